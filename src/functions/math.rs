//! Whole numbers and floats.
//!
//! Sprig casts its arguments: text becomes the number it reads as, and what is no number becomes zero.

use std::sync::LazyLock;

use tera::Value;

use super::{
    Call, Error, Family, Function, Native, Outcome, Param,
    cast::{float_to_int, parse_int, parse_int_clamped, to_float64, to_int64},
    decimal::Decimal,
    limits,
};
use crate::value::print;

pub(super) const FUNCTIONS: &[Function] = &[
    function("atoi", &[Param::String], atoi, "The whole number that the text reads as in decimal."),
    function("int", ONE, int, "The argument as an `int`."),
    function("int64", ONE, int64, "The argument as an `int64`."),
    function("float64", ONE, float64, "The argument as a `float64`."),
    function("toDecimal", ONE, to_decimal, "The number that the argument reads as in octal."),
    function("add1", ONE, add1, "One more."),
    function("add", &[], add, "The sum.").variadic(Param::Any),
    function("sub", TWO, sub, "The difference."),
    function("div", TWO, div, "The quotient, toward zero."),
    function("mod", TWO, modulo, "The remainder."),
    function("mul", ONE, mul, "The product.").variadic(Param::Any),
    function("add1f", ONE, add1f, "One more, as a float."),
    function("addf", &[], addf, "The sum of floats.").variadic(Param::Any),
    function("subf", ONE, subf, "The difference of floats.").variadic(Param::Any),
    function("divf", ONE, divf, "The quotient of floats.").variadic(Param::Any),
    function("mulf", ONE, mulf, "The product of floats.").variadic(Param::Any),
    function("max", ONE, max, "The greatest.").variadic(Param::Any),
    function("biggest", ONE, max, "An old name of `max`.").variadic(Param::Any),
    function("min", ONE, min, "The least.").variadic(Param::Any),
    function("maxf", ONE, maxf, "The greatest float.").variadic(Param::Any),
    function("minf", ONE, minf, "The least float.").variadic(Param::Any),
    function("ceil", ONE, ceil, "The whole float above."),
    function("floor", ONE, floor, "The whole float below."),
    function("round", &[Param::Any, Param::Int], round, "Rounds to so many decimal places.")
        .variadic(Param::Float64),
    function("until", &[Param::Int], until, "The numbers from 0 up to the argument."),
    function(
        "untilStep",
        &[Param::Int, Param::Int, Param::Int],
        until_step,
        "The numbers from, up to, in steps of.",
    ),
    function("seq", &[], seq, "The text of a sequence of numbers, as the shell's `seq`.")
        .variadic(Param::Int),
];

const ONE: &[Param] = &[Param::Any];
const TWO: &[Param] = &[Param::Any, Param::Any];

const fn function(
    name: &'static str,
    params: &'static [Param],
    native: Native,
    summary: &'static str,
) -> Function {
    Function::new(name, Family::Math, params, native, summary)
}

/// An `int64` of Go.
fn wide(n: i64) -> Outcome {
    Ok(Value::from(i128::from(n)))
}

fn atoi(call: &Call<'_>) -> Outcome {
    Ok(Value::from(parse_int_clamped(&call.text(0))))
}

fn int(call: &Call<'_>) -> Outcome {
    Ok(Value::from(to_int64(call.arg(0))))
}

fn int64(call: &Call<'_>) -> Outcome {
    wide(to_int64(call.arg(0)))
}

fn float64(call: &Call<'_>) -> Outcome {
    Ok(Value::from(to_float64(call.arg(0))))
}

fn to_decimal(call: &Call<'_>) -> Outcome {
    let text = print::to_text(call.scope, call.arg(0))?;
    wide(parse_int(&text, 8).unwrap_or(0))
}

fn add1(call: &Call<'_>) -> Outcome {
    wide(to_int64(call.arg(0)).wrapping_add(1))
}

fn add(call: &Call<'_>) -> Outcome {
    wide(call.args.iter().fold(0, |sum: i64, arg| sum.wrapping_add(to_int64(arg))))
}

fn sub(call: &Call<'_>) -> Outcome {
    wide(to_int64(call.arg(0)).wrapping_sub(to_int64(call.arg(1))))
}

fn div(call: &Call<'_>) -> Outcome {
    divided(call, i64::wrapping_div)
}

fn modulo(call: &Call<'_>) -> Outcome {
    divided(call, i64::wrapping_rem)
}

fn divided(call: &Call<'_>, how: fn(i64, i64) -> i64) -> Outcome {
    match to_int64(call.arg(1)) {
        0 => Err(Error::new("runtime error: integer divide by zero")),
        divisor => wide(how(to_int64(call.arg(0)), divisor)),
    }
}

fn mul(call: &Call<'_>) -> Outcome {
    wide(call.args.iter().fold(1, |product: i64, arg| product.wrapping_mul(to_int64(arg))))
}

fn add1f(call: &Call<'_>) -> Outcome {
    decimal(call.arg(0), &[Value::from(1_i64)], Decimal::add)
}

fn addf(call: &Call<'_>) -> Outcome {
    decimal(&Value::from(0.0), call.args, Decimal::add)
}

fn subf(call: &Call<'_>) -> Outcome {
    decimal(call.arg(0), call.rest(1), Decimal::sub)
}

fn divf(call: &Call<'_>) -> Outcome {
    decimal(call.arg(0), call.rest(1), Decimal::div)
}

fn mulf(call: &Call<'_>) -> Outcome {
    decimal(call.arg(0), call.rest(1), Decimal::mul)
}

/// Sprig computes floats in decimal, so that 0.1 and 0.2 are 0.3.
fn decimal(first: &Value, others: &[Value], how: fn(Decimal, &Decimal) -> Result<Decimal, Error>) -> Outcome {
    let mut result = Decimal::from_float(to_float64(first))?;
    for other in others {
        result = how(result, &Decimal::from_float(to_float64(other))?)?;
    }
    Ok(Value::from(result.to_float()))
}

fn max(call: &Call<'_>) -> Outcome {
    wide(call.args.iter().map(to_int64).max().unwrap_or_default())
}

fn min(call: &Call<'_>) -> Outcome {
    wide(call.args.iter().map(to_int64).min().unwrap_or_default())
}

fn maxf(call: &Call<'_>) -> Outcome {
    // Go's math.Max knows +0 from -0, and answers NaN for NaN unless the other is +Inf.
    folded(call, |a, b| {
        if a == f64::INFINITY || b == f64::INFINITY {
            f64::INFINITY
        } else if a.is_nan() || b.is_nan() {
            f64::NAN
        } else if a == 0.0 && a == b {
            if a.is_sign_negative() { b } else { a }
        } else if a > b {
            a
        } else {
            b
        }
    })
}

fn minf(call: &Call<'_>) -> Outcome {
    folded(call, |a, b| {
        if a == f64::NEG_INFINITY || b == f64::NEG_INFINITY {
            f64::NEG_INFINITY
        } else if a.is_nan() || b.is_nan() {
            f64::NAN
        } else if a == 0.0 && a == b {
            if a.is_sign_negative() { a } else { b }
        } else if a < b {
            a
        } else {
            b
        }
    })
}

fn folded(call: &Call<'_>, how: fn(f64, f64) -> f64) -> Outcome {
    Ok(Value::from(call.args.iter().map(to_float64).reduce(how).unwrap_or_default()))
}

fn ceil(call: &Call<'_>) -> Outcome {
    Ok(Value::from(to_float64(call.arg(0)).ceil()))
}

fn floor(call: &Call<'_>) -> Outcome {
    Ok(Value::from(to_float64(call.arg(0)).floor()))
}

fn round(call: &Call<'_>) -> Outcome {
    let on = call.args.get(2).map_or(0.5, |_| call.float(2));
    let power = pow10(call.int(1) as f64);
    let digits = power * to_float64(call.arg(0));
    // Go's math.Modf of an infinity has NaN as its fraction.
    let fraction = if digits.is_infinite() { f64::NAN } else { digits - digits.trunc() };
    let rounded = if fraction >= on { digits.ceil() } else { digits.floor() };
    Ok(Value::from(rounded / power))
}

/// Go's `math.Pow(10, y)` for whole `y`: it multiplies the squares of ten that make up the power.
fn pow10(y: f64) -> f64 {
    static SQUARES: LazyLock<Vec<f64>> =
        LazyLock::new(|| std::iter::successors(Some(10.0_f64), |x| Some(x * x)).take(9).collect());
    let places = float_to_int(y.abs());
    if places > 400 {
        return if y > 0.0 { f64::INFINITY } else { 0.0 };
    }
    let product: f64 =
        SQUARES.iter().enumerate().filter(|(bit, _)| places >> bit & 1 == 1).map(|(_, x)| *x).product();
    if y < 0.0 { 1.0 / product } else { product }
}

fn until(call: &Call<'_>) -> Outcome {
    let count = call.int(0);
    list(call, 0, count, if count < 0 { -1 } else { 1 })
}

fn until_step(call: &Call<'_>) -> Outcome {
    list(call, call.int(0), call.int(1), call.int(2))
}

fn list(call: &Call<'_>, start: i64, stop: i64, step: i64) -> Outcome {
    let numbers: Vec<Value> = steps(start, stop, step)?.map(Value::from).collect();
    Ok(call.list_of(numbers, "[]int"))
}

/// The numbers from `start` up to (or, for a negative step, down to) `stop`, without it.
fn steps(start: i64, stop: i64, step: i64) -> Result<impl Iterator<Item = i64>, Error> {
    let reaches = if stop < start { step < 0 } else { step > 0 };
    let count = if reaches { start.abs_diff(stop).div_ceil(step.unsigned_abs()) } else { 0 };
    limits::check_items(usize::try_from(count).unwrap_or(usize::MAX))?;
    Ok((0..count).scan(start, move |next, _| Some(std::mem::replace(next, next.wrapping_add(step)))))
}

fn seq(call: &Call<'_>) -> Outcome {
    let int = |at| call.int(at);
    let (start, step, end) = match call.args.len() {
        1 => (1, if int(0) < 1 { -1 } else { 1 }, int(0)),
        2 => (int(0), if int(1) < int(0) { -1 } else { 1 }, int(1)),
        3 if int(2) < int(0) && int(1) > 0 => return Ok(Value::from("")),
        3 => (int(0), int(1), int(2)),
        _ => return Ok(Value::from("")),
    };
    // One beyond the end, in the direction of the sequence rather than of the step.
    let stop = end.wrapping_add(if end < start { -1 } else { 1 });
    let mut out = String::new();
    for number in steps(start, stop, step)? {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(itoa::Buffer::new().format(number));
    }
    Ok(Value::from(out))
}
