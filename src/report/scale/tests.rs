use super::*;

fn labels(axis: &AxisScale, max: usize) -> Vec<String> {
    axis.ticks(max).into_iter().map(|(_, label)| label).collect()
}

fn doubling(n: u32) -> Vec<f64> {
    (0..n).map(|i| f64::from(1u32 << i)).collect()
}

#[test]
fn a_log_sweep_has_its_ticks_at_its_values() {
    let axis = AxisScale::swept(&doubling(13), Scale::Log, Unit::Count);
    assert_eq!(axis.spacing, Spacing::Log2);
    assert_eq!(labels(&axis, 13).len(), 13);
    assert_eq!(labels(&axis, 7), ["1", "4", "16", "64", "256", "1Ki", "4Ki"]);
    let at: Vec<f64> = axis.ticks(13).into_iter().map(|(p, _)| p).collect();
    let steps: Vec<f64> = at.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(steps.iter().all(|s| (s - steps[0]).abs() < 1e-12), "{steps:?}");
    assert!(at[0] > 0.03 && at[12] < 0.97);
}

#[test]
fn sizes_carry_their_unit() {
    let axis = AxisScale::swept(&[4.0, 8.0, 16.0, 32.0], Scale::Log, Unit::Bytes);
    assert_eq!(labels(&axis, 8), ["4 B", "8 B", "16 B", "32 B"]);
}

#[test]
fn crowded_marks_give_way_to_round_numbers() {
    let axis = AxisScale::swept(&[1.0, 2.0, 3.0, 100.0], Scale::Linear, Unit::Count);
    assert_eq!(labels(&axis, 6), ["0", "20", "40", "60", "80", "100"]);
}

#[test]
fn decades_are_recognised() {
    let axis = AxisScale::swept(&[1.0, 10.0, 100.0, 1000.0], Scale::Log, Unit::Count);
    assert_eq!(axis.spacing, Spacing::Log10);
    assert_eq!(labels(&axis, 4), ["1", "10", "100", "1k"]);
}

#[test]
fn a_measured_log_axis_ends_at_round_numbers() {
    let axis = AxisScale::measured(&[0.7, 3100.0], true, Unit::GigabytesPerSecond);
    assert_eq!(axis.position(0.5), Some(0.0));
    assert_eq!(axis.position(5000.0), Some(1.0));
    assert_eq!(labels(&axis, 6), ["1", "10", "100", "1000"]);
    let narrow = AxisScale::measured(&[2.0, 9.0], true, Unit::GigabytesPerSecond);
    assert_eq!(labels(&narrow, 6), ["1", "2", "5", "10"]);
    let few = AxisScale::measured(&[2.5, 38.0], true, Unit::GigabytesPerSecond);
    assert_eq!(labels(&few, 2), ["2", "20"]);
    assert_eq!(labels(&few, 3), ["2", "10", "50"]);
}

#[test]
fn a_measured_linear_axis_contains_zero() {
    let axis = AxisScale::measured(&[7.0, 9.2], false, Unit::GigabytesPerSecond);
    assert_eq!(axis.position(0.0), Some(0.0));
    assert_eq!(labels(&axis, 6), ["0", "2", "4", "6", "8", "10"]);
    let change = AxisScale::measured(&[-20.0, 55.0], false, Unit::Percent);
    assert!(labels(&change, 7).contains(&"0 %".to_owned()));
    assert!(change.position(-20.0).is_some() && change.position(55.0).is_some());
}

#[test]
fn ticks_of_a_linear_time_axis_share_a_prefix() {
    let axis = AxisScale::measured(&[0.0002, 0.0017], false, Unit::Seconds);
    assert_eq!(labels(&axis, 5), ["0", "0.5 ms", "1 ms", "1.5 ms", "2 ms"]);
}

#[test]
fn what_cannot_be_drawn_has_no_position() {
    let log = AxisScale::measured(&[1.0, 10.0], true, Unit::Number);
    let linear = AxisScale::measured(&[1.0, 10.0], false, Unit::Number);
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!((log.position(value), linear.position(value)), (None, None));
    }
    assert_eq!([0.0, -1.0].map(|v| log.position(v)), [None, None]);
    assert_eq!(log.position(1e9), None);
}

#[test]
fn names_stand_in_the_middle_of_their_bands() {
    let axis = AxisScale::categories(["a", "b"].map(str::to_owned).to_vec());
    assert_eq!(axis.ticks(9), [(0.25, "a".to_owned()), (0.75, "b".to_owned())]);
    assert_eq!(axis.position(2.0), None);
    assert_eq!(axis.label(1.0), "b");
}

/// Odd ranges that real data may have: no panic, no endless loop, positions inside the axis, and at most as
/// many ticks as requested.
#[test]
fn degenerate_data_still_make_an_axis() {
    let odd: [&[f64]; 9] = [
        &[],
        &[0.0],
        &[5.0],
        &[5.0, 5.0],
        &[-1.0, 0.0],
        &[-3.0, -3.0],
        &[f64::NAN, 1.0],
        &[1e-300, 1e300],
        &[1e18, 1e18 + 512.0],
    ];
    for values in odd {
        for max in [0, 1, 2, 10] {
            let swept = [Scale::Linear, Scale::Log].map(|s| AxisScale::swept(values, s, Unit::Count));
            let measured = [true, false].map(|log| AxisScale::measured(values, log, Unit::Seconds));
            for axis in swept.iter().chain(&measured) {
                let ticks = axis.ticks(max);
                assert!(ticks.len() <= max, "{values:?} {axis:?}: {ticks:?}");
                assert!(ticks.iter().all(|(p, _)| (0.0..=1.0).contains(p)), "{values:?}: {ticks:?}");
            }
        }
    }
}

#[test]
fn a_spacing_can_be_chosen() {
    let axis = AxisScale::swept_as(&doubling(4), Spacing::Linear, Unit::Count);
    assert_eq!(labels(&axis, 4), ["1", "2", "4", "8"]);
    let at: Vec<f64> = axis.ticks(4).into_iter().map(|(p, _)| p).collect();
    assert!((at[3] - at[2]) > 1.9 * (at[2] - at[1]));
    let binary = AxisScale::measured_as(&[3.0, 100.0], Spacing::Log2, Unit::GigabytesPerSecond);
    assert_eq!(
        (binary.ends(), labels(&binary, 9)),
        ((2.0, 128.0), doubling(8)[1..].iter().map(|v| v.to_string()).collect())
    );
}

#[test]
fn a_part_of_an_axis_has_ticks_of_its_own() {
    let axis = AxisScale::swept(&doubling(7), Scale::Log, Unit::Count);
    assert_eq!(labels(&axis.part((3.0, 20.0)), 9), ["4", "8", "16"]);
    assert_eq!(labels(&axis.part((4.5, 7.0)), 6), ["4.5", "5", "5.5", "6", "6.5", "7"]);
    let names = AxisScale::categories(["a", "b", "c", "d"].map(str::to_owned).to_vec());
    assert_eq!(names.part((1.0, 3.0)).ticks(9), [(0.25, "b".to_owned()), (0.75, "c".to_owned())]);
    assert_eq!(names.part((1.0, 3.0)).position(0.0), None);
    let outside = axis.part((1e6, 1e7));
    assert_eq!(outside, axis, "a part with nothing in it is no part");
    for (position, scale) in [(0.25, &axis), (0.5, &names)] {
        let back = scale.place_of_end(scale.at(position)).expect("a place");
        assert!((back - position).abs() < 1e-12);
    }
}

proptest::proptest! {
    /// The label of a tick matches its position, for any spacing and part of the axis.
    #[test]
    fn a_label_says_where_its_tick_stands(
        values in proptest::collection::vec(0.001f64..1e6, 1..12),
        (from, share) in (0.0f64..1.0, 0.016f64..1.0),
        spacing in proptest::sample::select(vec![Spacing::Linear, Spacing::Log2, Spacing::Log10]),
        most in 1usize..24,
        swept: bool,
    ) {
        let all = match swept {
            true => AxisScale::swept_as(&values, spacing, Unit::Number),
            false => AxisScale::measured_as(&values, spacing, Unit::Number),
        };
        let axis = all.part((all.at(from * (1.0 - share)), all.at(from * (1.0 - share) + share)));
        let ticks = axis.ticks(most);
        proptest::prop_assert!(ticks.len() <= most);
        proptest::prop_assert!(ticks.windows(2).all(|w| w[0].0 < w[1].0 && w[0].1 != w[1].1));
        for (position, label) in ticks {
            let value: f64 = label.parse().expect("a number");
            // Labels have four digits.
            let [low, high] = [-6e-4, 6e-4].map(|share| axis.unbounded(value + share * value.abs()).expect("on the axis"));
            proptest::prop_assert!(value == 0.0 || low - 1e-9 <= position && position <= high + 1e-9, "{label} at {position}");
        }
    }
}
