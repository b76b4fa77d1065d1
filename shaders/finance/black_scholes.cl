// Price of a European call and put by Black and Scholes, one option per work-item.

// Computes the `count` options from option `first` on.
typedef struct { uint options, first, count; float rate, volatility; } Params;

// Distribution function of the standard normal law: Abramowitz and Stegun 26.2.17, whose
// absolute error is below 7.5e-8.
float normal_cdf(float d)
{
    const float t = 1.0f / mad(0.2316419f, fabs(d), 1.0f);
    float series = mad(t, 1.330274429f, -1.821255978f);
    series = mad(t, series, 1.781477937f);
    series = mad(t, series, -0.356563782f);
    series = mad(t, series, 0.319381530f);
    const float tail = 0.3989422804f * exp(-0.5f * d * d) * (t * series);
    return d > 0.0f ? 1.0f - tail : tail;
}

__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, GROUP_Z)))
kernel void black_scholes(global const float* restrict price, global const float* restrict strike,
                          global const float* restrict years, global float* restrict call,
                          global float* restrict put, const Params p)
{
    const uint i = p.first + get_global_id(0) + get_global_id(1) * get_global_size(0);
    if (i >= p.first + p.count) return;

    const float spot = price[i];
    const float time = years[i];
    const float spread = p.volatility * sqrt(time);
    const float drift = (p.rate + 0.5f * p.volatility * p.volatility) * time;
    const float d1 = (log(spot / strike[i]) + drift) / spread;
    const float below1 = normal_cdf(d1);
    const float below2 = normal_cdf(d1 - spread);
    const float present = strike[i] * exp(-p.rate * time);
    call[i] = spot * below1 - present * below2;
    put[i] = present * (1.0f - below2) - spot * (1.0f - below1);
}
