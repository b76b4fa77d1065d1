use super::*;
use proptest::prelude::*;

fn value(text: &str) -> Result<f64, String> {
    let scope = [("n".to_owned(), 10.0), ("m".to_owned(), 3.0)];
    Expr::parse(text).map_err(|(range, why)| format!("{range:?}: {why}"))?.eval(&scope)
}

#[test]
fn precedence_and_functions() {
    for (text, wanted) in [
        ("15*n*n", 1500.0),
        ("2 + 3*4", 14.0),
        ("10-3-2", 5.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("(n+m)%5", 3.0),
        ("--n", 10.0),
        ("ceil_div(n, m)", 4.0),
        ("min(n, m, 2*m)", 3.0),
        ("max(n, m, 11)", 11.0),
        ("floor(n/m) + ceil(n/m)", 7.0),
        ("log2(1024) + sqrt(16)", 14.0),
        ("1e3 + 2.5E-1 + .5", 1000.75),
        (" n\t*\n m ", 30.0),
        ("2^40", 1_099_511_627_776.0),
    ] {
        assert_eq!(value(text), Ok(wanted), "{text}");
    }
}

#[test]
fn mistakes_have_a_range() {
    for (text, range) in [
        ("", 0..0),
        ("n*", 2..2),
        ("n $ 2", 2..3),
        ("2n", 0..2),
        ("foo(n)", 0..3),
        ("min(n)", 0..3),
        ("ceil_div(1,2,3)", 0..8),
        ("(n", 2..2),
        ("n)", 1..2),
        ("n é", 2..4),
        ("1e999", 0..5),
        ("min()", 4..5),
    ] {
        assert_eq!(Expr::parse(text).map_err(|e| e.0), Err(range), "{text}");
    }
}

#[test]
fn values_that_make_no_sense_are_errors() {
    for text in [
        "1e300*1e300",
        "10^400",
        "n/(m-3)",
        "n%0",
        "ceil_div(1,0)",
        "log2(0)",
        "sqrt(-1)",
        "(-2)^0.5",
        "0^-1",
        "k",
    ] {
        assert!(value(text).is_err(), "{text}");
    }
}

#[test]
fn counts_are_whole_and_not_negative() {
    let count = |text| Expr::parse(text).unwrap().count(&[]);
    assert_eq!(count("2^53"), Ok(1 << 53));
    assert_eq!(count("7-7"), Ok(0));
    assert!(count("2^54").unwrap_err().contains("at most"));
    assert!(count("-4").unwrap_err().contains("not negative"));
    assert!(count("7/2").unwrap_err().contains("whole"));
}

#[test]
fn the_later_of_two_names_wins() {
    let scope = [("n".to_owned(), 1.0), ("n".to_owned(), 2.0)];
    assert_eq!(Expr::parse("n").unwrap().eval(&scope), Ok(2.0));
}

#[test]
fn names_are_listed_with_their_place() {
    let expr = Expr::parse("a + min(b, 2)*a").unwrap();
    let names: Vec<_> = expr.names().collect();
    assert_eq!(names, [("a", 0..1), ("b", 8..9), ("a", 14..15)]);
}

#[test]
fn deep_nesting_is_rejected() {
    for unit in ["(", "-", "2^", "min(1,"] {
        let wrong = Expr::parse(&unit.repeat(100)).unwrap_err();
        assert!(wrong.1.contains("nested"), "{wrong:?}");
    }
    assert!(Expr::parse(&"1+".repeat(1000)).is_err());
}

proptest! {
    #[test]
    fn no_text_panics(text in "[-+*/%^(), a-cé0-9.emin]{0,60}") {
        match Expr::parse(&text) {
            Ok(expr) => { let _ = expr.count(&[("a".to_owned(), 3.0)]); }
            Err((range, _)) => prop_assert!(text.get(range).is_some()),
        }
    }

    #[test]
    fn no_string_panics(text in any::<String>()) {
        if let Err((range, _)) = Expr::parse(&text) {
            prop_assert!(text.get(range).is_some());
        }
    }
}

#[test]
fn nothing_has_a_root_and_a_power_of_zero() {
    let value = |text: &str| Expr::parse(text).unwrap().eval(&[]);
    assert_eq!((value("sqrt(0)"), value("0^0"), value("0^2")), (Ok(0.0), Ok(1.0), Ok(0.0)));
    assert!(value("sqrt(0 - 1)").is_err() && value("log2(0)").is_err());
}

#[test]
fn each_operation_has_its_hand_computed_value() {
    for (text, wanted) in [
        ("7 - 10", -3.0),
        ("7 / 2", 3.5),
        ("7 % 4", 3.0),
        ("-7 % 4", -3.0),
        ("7 % -4", 3.0),
        ("2 * 3 + 4 * 5", 26.0),
        ("100 / 5 / 2", 10.0),
        ("7 % 4 * 2", 6.0),
        ("2^10", 1024.0),
        ("2^0.5^2", 1.189_207_115_002_721),
        ("(-2)^3", -8.0),
        ("(-2)^2", 4.0),
        ("0^0.5", 0.0),
        ("(-2)^-1", -0.5),
        ("-(2 + 3)", -5.0),
        ("ceil_div(-7, 2)", -3.0),
        ("ceil_div(8, 4)", 2.0),
        ("floor(2.5)", 2.0),
        ("floor(-2.5)", -3.0),
        ("ceil(2.5)", 3.0),
        ("ceil(-2.5)", -2.0),
        ("log2(1)", 0.0),
        ("log2(0.5)", -1.0),
        ("sqrt(2.25)", 1.5),
        ("min(3, 1, 2)", 1.0),
        ("max(1, 3, 2)", 3.0),
        ("max(-n, -m)", -3.0),
        ("1e+2", 100.0),
        ("1E2 + 1.", 101.0),
        ("0", 0.0),
    ] {
        assert_eq!(value(text), Ok(wanted), "{text}");
    }
}

#[test]
fn a_mistake_says_what_was_expected() {
    for (text, message) in [
        ("n)", "expected an operator (+ - * / % ^) or the end, found `)`"),
        ("(n", "expected an operator (+ - * / % ^) or `)`, found the end"),
        ("(n}", "expected an operator (+ - * / % ^) or `)`, found `}`"),
        ("n +", "expected a number, a name or `(`, found the end"),
        ("*", "expected a number, a name or `(`, found `*`"),
        ("2n", "`2n` is no number (a product needs a `*`)"),
        ("1_000", "`1_000` is no number (a product needs a `*`)"),
        ("1.2.3", "`1.2.3` is no number (a product needs a `*`)"),
        ("1e", "`1e` is no number (a product needs a `*`)"),
        ("1e+", "`1e+` is no number (a product needs a `*`)"),
        ("1e999", "the number is too large"),
        ("sqrt(1, 2)", "`sqrt` takes 1 argument, not 2"),
        ("ceil_div(1)", "`ceil_div` takes 2 arguments, not 1"),
        ("ceil_div(1, 2, 3)", "`ceil_div` takes 2 arguments, not 3"),
        ("min(1)", "`min` takes 2 arguments or more, not 1"),
    ] {
        assert_eq!(Expr::parse(text).map_err(|wrong| wrong.1), Err(message.to_owned()), "{text}");
    }
    let (range, why) = Expr::parse("2 * sin(n)").unwrap_err();
    assert_eq!(
        (range, why.starts_with("there is no function `sin`; there are ceil, ceil_div")),
        (4..7, true)
    );
    assert_eq!(Expr::parse("  1e999").unwrap_err().0, 2..7);
}

#[test]
fn expressions_are_as_deep_and_as_long_as_is_said() {
    let deep = |n: usize| Expr::parse(&format!("{}1{}", "(".repeat(n), ")".repeat(n)));
    assert_eq!(deep(39).unwrap().eval(&[]), Ok(1.0));
    assert_eq!(
        deep(40).unwrap_err(),
        (40..40, "the expression is nested more than 40 deep".to_owned())
    );
    let signs = |n: usize| Expr::parse(&format!("{}1", "-".repeat(n)));
    assert!(signs(39).is_ok() && signs(40).is_err());
    // What is closed is no longer deep.
    assert_eq!(Expr::parse(&format!("0{}", "+(-1)".repeat(100))).unwrap().eval(&[]), Ok(-100.0));
    let long = |bytes: usize| Expr::parse(&format!("{:>bytes$}", "1"));
    assert!(long(1000).is_ok());
    assert_eq!(
        long(1001).unwrap_err(),
        (0..1001, "an expression has at most 1000 bytes".to_owned())
    );
}

#[test]
fn what_has_no_value_is_said() {
    for (text, why) in [
        ("k", "`k`: there is no size or parameter `k`"),
        ("n / (m - 3)", "`n / (m - 3)`: 10 is divided by 0"),
        ("n % 0", "`n % 0`: 10 is divided by 0"),
        ("log2(m - 3)", "`log2(m - 3)`: 0 has no logarithm"),
        ("sqrt(0 - m)", "`sqrt(0 - m)`: -3 has no square root"),
        ("(-m)^0.5", "`(-m)^0.5`: -3 has no power 0.5"),
        ("0^(-1)", "`0^(-1)`: 0 has no power -1"),
        ("n^999", "`n^999`: the value is too large (overflow)"),
    ] {
        assert_eq!(value(text), Err(why.to_owned()), "{text}");
    }
}

#[test]
fn a_count_is_at_most_2_to_the_53() {
    let count = |text: &str| Expr::parse(text).unwrap().count(&[]);
    assert_eq!((count("2^53"), count("0"), count("3.0")), (Ok(1 << 53), Ok(0), Ok(3)));
    assert_eq!(
        count("2^53 + 2").unwrap_err(),
        "`2^53 + 2` is 9007199254740994, but a count is at most 2^53"
    );
    assert_eq!(count("-1").unwrap_err(), "`-1` is -1, but a count is not negative");
    assert!(count("0.5").unwrap_err().starts_with("`0.5` is 0.5, but a count is whole"));
    assert!(count("k").unwrap_err().contains("there is no size or parameter `k`"));
}

#[test]
fn numbers_and_names_are_made_without_a_text() {
    assert_eq!(
        (Expr::number(2.5).eval(&[]), Expr::number(2.5).to_string()),
        (Ok(2.5), "2.5".to_owned())
    );
    assert!(Expr::number(2.5).is_number(2.5) && !Expr::number(2.5).is_number(2.0));
    assert!(!Expr::name("n").is_number(0.0) && !Expr::parse("1 + 1").unwrap().is_number(2.0));
    assert_eq!(Expr::name("n").eval(&[("n".to_owned(), 4.0)]), Ok(4.0));
    assert_eq!(Expr::name("rows").names().collect::<Vec<_>>(), [("rows", 0..4)]);
    assert_eq!(Expr::default(), Expr::number(0.0));
}

#[test]
fn in_json_an_expression_is_its_text() {
    let expr = Expr::parse(" 2*n ").unwrap();
    assert_eq!(
        (serde_json::to_string(&expr).unwrap(), expr.to_string()),
        ("\" 2*n \"".to_owned(), "2*n".to_owned())
    );
    assert_eq!(serde_json::from_str::<Expr>("\" 2*n \"").unwrap(), expr);
    let why = Expr::try_from("2*".to_owned()).unwrap_err();
    assert_eq!(why, "`2*`: expected a number, a name or `(`, found the end");
}
