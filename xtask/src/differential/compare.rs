//! When two replies count as the same.
//!
//! Exactly equal, but for what depends on the instant: a number that can only be a time left or a
//! unix time may differ by what the sequence took. The menus keep other numbers out of those
//! ranges. Where the server's order is that of a hash table, order does not count.

/// How far times may be apart, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance(pub(super) i64);

/// Commands whose reply has no order of its own.
const UNORDERED: &[&str] = &["keys", "scan", "smembers", "pubsub"];

/// Tells whether the reply to a command has no order of its own.
pub(super) fn is_unordered(command: &str) -> bool {
    UNORDERED.contains(&command)
}

/// Tells whether the messages that two servers sent to one connection are the same.
pub(super) fn same(
    unordered: bool,
    real: &[Vec<String>],
    model: &[Vec<String>],
    within: Tolerance,
) -> bool {
    let close = |real: &[String], model: &[String]| {
        real.len() == model.len() && real.iter().zip(model).all(|(a, b)| is_close(a, b, within))
    };
    let sorted = |lines: &[String]| {
        let mut lines = lines.to_vec();
        lines.sort();
        lines
    };
    real.len() == model.len()
        && real.iter().zip(model).all(|(real, model)| {
            close(real, model) || (unordered && close(&sorted(real), &sorted(model)))
        })
}

fn is_close(real: &str, model: &str, within: Tolerance) -> bool {
    if real == model {
        return true;
    }
    let number = |line: &str| line.trim_start().strip_prefix(':')?.parse::<i64>().ok();
    let (Some(real), Some(model)) = (number(real), number(model)) else { return false };
    let both = |low: i64, high: i64| (low..high).contains(&real) && (low..high).contains(&model);
    let apart = (real - model).abs();
    // Seconds left or unix seconds; then milliseconds left or unix milliseconds.
    ((both(40, 10_000) || both(1_000_000_000, 10_000_000_000)) && apart <= 1)
        // What is left of a short time to live.
        || (both(20, 101) && apart <= within.0)
        || (both(10_000, 100_000_000_000_000) && apart <= within.0)
}

/// Tells whether a line depends on the instant, so that another run gives another one.
pub(super) fn depends_on_time(line: &str) -> bool {
    let number = line.trim_start().strip_prefix(':').and_then(|text| text.parse::<i64>().ok());
    number.is_some_and(|number| (10_000..100_000_000_000_000).contains(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same_line(real: &str, model: &str) -> bool {
        same(false, &[vec![real.to_owned()]], &[vec![model.to_owned()]], Tolerance(5))
    }

    #[test]
    fn only_times_may_differ_and_only_a_little() {
        assert!(same_line(":200000", ":199996"));
        assert!(!same_line(":200000", ":199994"));
        assert!(same_line(":200", ":199"));
        assert!(!same_line(":200", ":198"));
        assert!(!same_line(":1", ":2"));
        assert!(!same_line(":9223372036854775807", ":9223372036854775806"));
        assert!(!same_line("+OK", "$nil"));
    }

    #[test]
    fn order_counts_where_it_has_a_meaning() {
        let one = [["*2", "  :1", "  :2"].map(str::to_owned).to_vec()];
        let two = [["*2", "  :2", "  :1"].map(str::to_owned).to_vec()];
        assert!(same(true, &one, &two, Tolerance(0)));
        assert!(!same(false, &one, &two, Tolerance(0)));
    }
}
