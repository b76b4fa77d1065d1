use super::*;

fn expanded(files: &[(&str, &str)]) -> Result<Headers, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let (root, source) = Root::open(&folder.path().join(files[0].0)).unwrap();
    headers(&root, &source).map_err(|Located { text, offset, len, message, .. }| {
        format!("{}: {message}", &text[offset..offset + len])
    })
}

#[test]
fn headers_stand_where_they_are_included() {
    let kernel = "int a;\n# include \"b.h\" // two\nint c;\n#include \"b.h\"\nint d;\n";
    let header = "#pragma once\nint b;";
    let found = expanded(&[("k.cl", kernel), ("b.h", header)]).unwrap();
    let text = found.expanded.unwrap().text;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(&lines[..2], ["int a;", lines[1]]);
    assert!(lines[1].starts_with("#line 1 ") && lines[1].ends_with("b.h\""), "{text}");
    assert_eq!(lines[2..4], ["#pragma once", "int b;"]);
    assert!(lines[4].starts_with("#line 3 ") && lines[4].ends_with("k.cl\""), "{text}");
    assert_eq!(text.matches("int b;").count(), 1, "once: {text}");
    assert_eq!(found.sources.len(), 1);
    assert!(expanded(&[("k.cl", "int a;")]).unwrap().expanded.is_none());
}

#[test]
fn what_is_no_header_of_the_folder_is_rejected() {
    let why =
        |kernel: &str| expanded(&[("k.cl", kernel), ("b.h", "#include \"b.h\"\n")]).unwrap_err();
    assert!(why("#include <stdio.h>\n").starts_with("#include: a kernel of a suite may not"));
    assert!(why("#include \"../x.h\"\n").contains("outside the suite's folder"));
    assert!(why("#include \"/etc/passwd\"\n").contains("outside the suite's folder"));
    assert!(why("#include \"c.h\"\n").starts_with("c.h: cannot read the header `c.h`"));
    assert!(why("#include \"b.h\"\n").contains("includes itself"));
    assert!(why("#define A \\\n#include \"b.h\"\n").contains("may not"));
    assert!(why("#include \"b.h\" \"c.h\"\n").contains("may not"));
    assert!(why("int a; asm(\"\");\n").contains("may not"));
}

/// Each file by itself looks for nothing.
#[test]
fn what_joined_files_are_is_checked_too() {
    let comment = "#pragma GCC /*\n#include \"b.h\"\n*/ X\n";
    let why = |header: &str| expanded(&[("k.cl", comment), ("b.h", header)]).unwrap_err();
    for header in ["*/ dependency </etc/passwd> /*", "*/ module \"x\" /*"] {
        assert!(why(header).starts_with("b.h: together with its headers"), "{header}");
    }
    let harmless = expanded(&[("k.cl", comment), ("b.h", "int b;")]).unwrap();
    assert!(harmless.expanded.unwrap().text.contains("int b;"));
    // The names of files are no part of it, and end no comment.
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("asm*");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(inner.join("k.cl"), "/*\n#include \"b.h\"\n*/ int a;\n").unwrap();
    std::fs::write(inner.join("b.h"), "int b;").unwrap();
    let (root, source) = Root::open(&inner.join("k.cl")).unwrap();
    let found = headers(&root, &source).map_err(|mistake| mistake.message).unwrap();
    assert_eq!(found.expanded.unwrap().text.matches("*/").count(), 1);
}

#[test]
fn a_kernel_is_read_with_its_headers_where_its_language_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, "#include \"b.h\"\nint c;\n").unwrap();
    std::fs::write(folder.path().join("b.h"), "int b;\n").unwrap();
    let (text, expanded) = read_kernel(&path, Language::Opencl).unwrap();
    assert_eq!(text, "#include \"b.h\"\nint c;\n");
    assert!(expanded.unwrap().text.contains("int b;"));
    let (text, expanded) = read_kernel(&path, Language::Wgsl).unwrap();
    assert!(text.contains("int c;") && expanded.is_none());
    assert!(read_kernel(&folder.path().join("none.cl"), Language::Opencl).is_err());
}

#[test]
fn a_kernel_is_made_of_two_hundred_texts_and_no_more() {
    let with = |n: usize| expanded(&[("k.cl", &"#include \"b.h\"\n".repeat(n)), ("b.h", "int b;")]);
    let found = with(199).unwrap();
    assert_eq!(found.expanded.unwrap().text.matches("int b;").count(), 199);
    assert_eq!(found.sources.len(), 1);
    assert_eq!(with(200).map(|_| ()), Err("b.h: a kernel includes at most 200 texts".to_owned()));
}

#[test]
fn headers_may_include_others_and_one_another_in_turn() {
    let files = [
        ("k.cl", "#include \"b.h\"\n#include \"c.h\"\n"),
        ("b.h", "int b;"),
        ("c.h", "\n#include \"b.h\"\nint c;"),
    ];
    let found = expanded(&files).unwrap();
    let sources: Vec<_> = found.sources.iter().map(|source| &source.path[..]).collect();
    assert_eq!(sources, ["b.h", "c.h"]);
    let all = found.expanded.unwrap();
    let lines: Vec<_> = all
        .text
        .lines()
        .map(|line| match line.split_once(" \"") {
            Some((line, file)) => format!("{line} {}", file.rsplit('/').next().unwrap()),
            None => line.to_owned(),
        })
        .collect();
    assert_eq!(
        lines,
        [
            "#line 1 b.h\"",
            "int b;",
            "#line 2 k.cl\"",
            "#line 1 c.h\"",
            "",
            "#line 1 b.h\"",
            "int b;",
            "#line 3 c.h\"",
            "int c;",
            "#line 3 k.cl\"",
        ]
    );
    assert_eq!(all.headers.len(), 2);
    let why = expanded(&[
        ("k.cl", "#include \"b.h\""),
        ("b.h", "#include \"c.h\""),
        ("c.h", "#include \"b.h\""),
    ])
    .unwrap_err();
    assert_eq!(why, "b.h: `b.h` includes itself");
}

#[test]
fn a_line_that_includes_holds_nothing_else() {
    let name = |line: &str| included(line).map(str::to_owned);
    for line in [
        "#include \"b.h\"",
        "  # \tinclude\"b.h\"  ",
        "#include \"b.h\" // x",
        "#include \"b.h\"\r",
    ] {
        assert_eq!(name(line).as_deref(), Some("b.h"), "{line}");
    }
    for line in [
        "include \"b.h\"",
        "#import \"b.h\"",
        "#include <b.h>",
        "#include \"b.h",
        "#include \"b.h\" x",
        "#include \"b.h\" /* */",
        "#include \"b.h\" // x\\",
        "#include \"b.h\" // x?\u{3f}/",
        "#include \"b\\.h\"",
        "#include \"b?.h\"",
    ] {
        assert_eq!(name(line), None, "{line}");
    }
    let places = |text: &str| {
        includes(text)
            .iter()
            .map(|one| (one.line.clone(), &text[one.at.clone()]))
            .map(|(line, at)| (line, at.to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(places("int a;\r\n #include \"b.h\"\r\n"), [(8..23, "b.h".to_owned())]);
    for end in ["\\\n", "\\ \t\n", "?\u{3f}/\n", "\\\r\n"] {
        assert_eq!(places(&format!("// a{end}#include \"b.h\"\n")), [], "{end:?}");
    }
    assert_eq!(places("a\\\nb\n#include \"b.h\"").len(), 1);
    let text = "a\n#include \"b.h\"\nc";
    assert_eq!(blanked(text, &includes(text)), format!("a\n{}\nc", " ".repeat(14)));
}

#[test]
fn a_file_in_a_directive_ends_neither_a_text_nor_a_comment() {
    let named =
        |file: &str| quoted(&Source { path: "".into(), file: file.into(), text: "".into() });
    assert_eq!(named("a\\b\"c\nd\re*/f"), "\"a/b?c?d?e?/f\"");
}

#[test]
fn what_a_header_asks_for_is_reported_in_the_header() {
    let why =
        expanded(&[("k.cl", "#include \"b.h\""), ("b.h", "int b;\n#include <c>")]).unwrap_err();
    assert!(why.starts_with("#include: a kernel of a suite may not"), "{why}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    std::fs::write(&path, "int a;\n#include <c>\n").unwrap();
    let Error::Suite(found) = read_kernel(&path, Language::Opencl).unwrap_err() else { panic!() };
    assert_eq!((found[0].offset, found[0].len), (7, 8));
    assert!(found[0].help.as_ref().is_some_and(|help| help.contains("in a line of its own")));
}
