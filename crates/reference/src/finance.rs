//! Option prices.

use super::{Data, Problem, map};
use gpubench_core::error::Result;
use statrs::function::erf::erfc;

/// European call and put by Black and Scholes, with the normal distribution from the
/// complementary error function in `f64` (the kernels use a polynomial, so the two differ by
/// up to 7.5e-8 of price plus strike before rounding).
///
/// # Errors
/// As [`super::Reference`].
pub fn black_scholes(problem: &Problem) -> Result<Vec<(&'static str, Data)>> {
    let options = problem.size("options")?;
    let market = Market {
        // The kernel sees its parameters in single precision.
        rate: f64::from(problem.number("rate")? as f32),
        volatility: f64::from(problem.number("volatility")? as f32),
    };
    let price = problem.f32("price", options)?;
    let strike = problem.f32("strike", options)?;
    let years = problem.f32("years", options)?;
    let part = problem.rows(options);
    let both = map(options, |i| match part.contains(&i) {
        true => market.call_and_put(price[i].into(), strike[i].into(), years[i].into()),
        false => [0.0; 2],
    });
    let (call, put) = both.iter().map(|&[call, put]| (call as f32, put as f32)).unzip();
    Ok(vec![("call", Data::F32(call)), ("put", Data::F32(put))])
}

/// What all options share.
struct Market {
    /// Riskless rate of return per year.
    rate: f64,
    /// Standard deviation of the logarithm of the price after one year.
    volatility: f64,
}

impl Market {
    fn call_and_put(&self, price: f64, strike: f64, years: f64) -> [f64; 2] {
        let spread = self.volatility * years.sqrt();
        let drift = (self.rate + self.volatility.powi(2) / 2.0) * years;
        let d1 = ((price / strike).ln() + drift) / spread;
        let d2 = d1 - spread;
        let present = strike * (-self.rate * years).exp();
        [
            price * normal_cdf(d1) - present * normal_cdf(d2),
            present * normal_cdf(-d2) - price * normal_cdf(-d1),
        ]
    }
}

fn normal_cdf(x: f64) -> f64 {
    erfc(-x / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_textbook_option() {
        // Hull, Options, Futures and Other Derivatives, example 15.6.
        let market = Market { rate: 0.1, volatility: 0.2 };
        let [call, put] = market.call_and_put(42.0, 40.0, 0.5);
        assert!((call - 4.76).abs() < 0.005 && (put - 0.81).abs() < 0.005, "{call} {put}");
    }

    #[test]
    fn call_less_put_is_price_less_discounted_strike() {
        let market = Market { rate: 0.02, volatility: 0.3 };
        for (price, strike, years) in [(5.0, 100.0, 0.25), (30.0, 1.0, 10.0), (20.0, 20.0, 1.0)] {
            let [call, put] = market.call_and_put(price, strike, years);
            let parity = price - strike * (-0.02 * years).exp();
            assert!((call - put - parity).abs() < 1e-12 * (price + strike));
            assert!(call >= parity.max(0.0) - 1e-12 && put >= (-parity).max(0.0) - 1e-12);
        }
    }

    #[test]
    fn every_option_is_priced_in_its_place() {
        let buffer = |name: &str, v: [f32; 2]| (name.to_owned(), Data::F32(v.to_vec()));
        let number = |name: &str, x: f64| (name.to_owned(), x);
        let problem = Problem::new(
            vec![number("options", 2.0), number("rate", 0.1), number("volatility", 0.2)],
            vec![
                buffer("price", [42.0, 1.0]),
                buffer("strike", [40.0, 1000.0]),
                buffer("years", [0.5, 0.5]),
            ],
        );
        let outputs = black_scholes(&problem).unwrap();
        assert_eq!([outputs[0].0, outputs[1].0], ["call", "put"]);
        let [call, put] = [0, 1].map(|i| outputs[i].1.get(0).unwrap());
        assert!((call - 4.76).abs() < 0.005 && (put - 0.81).abs() < 0.005, "{call} {put}");
        assert!(outputs[0].1.get(1).unwrap() < 1e-6);
    }
}
