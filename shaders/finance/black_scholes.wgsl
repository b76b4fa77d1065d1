// Price of a European call and put by Black and Scholes, one option per work-item.

// Computes the `count` options from option `first` on.
struct Params { options: u32, first: u32, count: u32, rate: f32, volatility: f32 }

@group(0) @binding(0) var<storage, read> price: array<f32>;
@group(0) @binding(1) var<storage, read> strike: array<f32>;
@group(0) @binding(2) var<storage, read> years: array<f32>;
@group(0) @binding(3) var<storage, read_write> call: array<f32>;
@group(0) @binding(4) var<storage, read_write> put: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

// Distribution function of the standard normal law: Abramowitz and Stegun 26.2.17, whose
// absolute error is below 7.5e-8.
fn normal_cdf(d: f32) -> f32 {
    let t = 1.0 / fma(0.2316419, abs(d), 1.0);
    var series = fma(t, 1.330274429, -1.821255978);
    series = fma(t, series, 1.781477937);
    series = fma(t, series, -0.356563782);
    series = fma(t, series, 0.319381530);
    let tail = 0.3989422804 * exp(-0.5 * d * d) * (t * series);
    return select(tail, 1.0 - tail, d > 0.0);
}

@compute @workgroup_size(GROUP_X, GROUP_Y, GROUP_Z)
fn black_scholes(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let i = p.first + id.x + id.y * (groups.x * GROUP_X);
    if (i >= p.first + p.count) { return; }

    let spot = price[i];
    let time = years[i];
    let spread = p.volatility * sqrt(time);
    let drift = (p.rate + 0.5 * p.volatility * p.volatility) * time;
    let d1 = (log(spot / strike[i]) + drift) / spread;
    let below1 = normal_cdf(d1);
    let below2 = normal_cdf(d1 - spread);
    let present = strike[i] * exp(-p.rate * time);
    call[i] = spot * below1 - present * below2;
    put[i] = present * (1.0 - below2) - spot * (1.0 - below1);
}
