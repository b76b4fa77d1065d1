//! How far two columns of numbers have the same order.

/// Spearman's ρ: the correlation of the two columns' ranks; 0 where either does not vary.
pub fn spearman(a: &[f64], b: &[f64]) -> f64 {
    pearson(&ranks(a), &ranks(b))
}

/// Ranks from 0, equal values sharing the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let equal = order[start..].iter().take_while(|&&at| values[at] == values[order[start]]);
        let end = start + equal.count().max(1);
        for &at in &order[start..end] {
            ranks[at] = (start + end - 1) as f64 / 2.0;
        }
        start = end;
    }
    ranks
}

/// The correlation of two columns; 0 where either does not vary.
fn pearson(a: &[f64], b: &[f64]) -> f64 {
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let (ma, mb) = (mean(a), mean(b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| a.iter().zip(b).map(|(x, y)| f(x - ma, y - mb)).sum();
    let (both, aa, bb): (f64, f64, f64) =
        (sum(&|x, y| x * y), sum(&|x, _| x * x), sum(&|_, y| y * y));
    if aa > 0.0 && bb > 0.0 { both / (aa * bb).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_order_counts() {
        assert_eq!(spearman(&[1.0, 2.0, 8.0], &[0.1, 0.2, 0.3]), 1.0);
        assert_eq!(spearman(&[1.0, 2.0, 8.0], &[0.3, 0.2, 0.1]), -1.0);
        assert_eq!(spearman(&[1.0; 3], &[0.3, 0.2, 0.1]), 0.0);
        assert_eq!(spearman(&[], &[]), 0.0);
        // Equal values share ranks: ρ of (0, 1.5, 1.5, 3) with (0, 1, 3, 2).
        let tied = spearman(&[1.0, 2.0, 2.0, f64::INFINITY], &[1.0, 2.0, 4.0, 3.0]);
        assert!((tied - 3.0 / (4.5f64 * 5.0).sqrt()).abs() < 1e-12, "{tied}");
    }
}
