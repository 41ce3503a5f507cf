//! The roles of the dimensions in a picture.

use super::request::{Kind, Request};
use suite::grid::Dimension;

/// The most surfaces in one picture; more hide each other.
const SURFACES_MAX: usize = 4;
/// The most heat maps on one picture.
const HEATMAPS_MAX: usize = 16;
/// The most lines or bars of different colours.
const SERIES_MAX: usize = 40;

/// The roles of the dimensions, by their indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub kind: Kind,
    /// `None`: the records are compared side by side.
    pub x: Option<usize>,
    pub y: Option<usize>,
    pub series: Option<usize>,
    /// The index of the value of each dimension without a role.
    pub fixed: Vec<usize>,
}

/// Chooses the roles of dimensions.
///
/// # Errors
/// When the dimensions do not fit the request; the message names those there are.
pub(super) fn shape(
    dimensions: &[Dimension],
    sources: usize,
    request: &Request,
) -> Result<Shape, String> {
    let mut chooser = Chooser::new(dimensions, request)?;
    let kind = chooser.kind(request);
    let (mut x, mut y) = (chooser.x, chooser.y);
    let series = chooser.series;
    if kind.has_two_axes() {
        y = y.or_else(|| chooser.take(Chooser::numbers_first));
        x = x.or_else(|| chooser.take(Chooser::numbers_first));
        if x.is_none() || y.is_none() {
            return Err(format!(
                "a {} needs two dimensions that were varied: {}",
                kind.name(),
                described(dimensions)
            ));
        }
    } else {
        if request.y.is_some() {
            return Err(format!(
                "--y: {} have their figures upwards; --x and --series are theirs",
                kind.name()
            ));
        }
        let choose = if kind == Kind::Lines { Chooser::longest_number } else { Chooser::first };
        x = x.or_else(|| chooser.take(choose));
        if x.is_none() && sources < 2 {
            return Err("there is one figure only: nothing was varied in this record".into());
        }
    }
    let series = series.or_else(|| chooser.take(Chooser::first));
    if !chooser.free.is_empty() {
        let left: Vec<&str> = chooser.free.iter().map(|d| dimensions[*d].name.as_str()).collect();
        return Err(format!(
            "too many dimensions for one picture: choose one value of {} with --at={}=VALUE; {}",
            left.join(" and of "),
            left[0],
            described(dimensions)
        ));
    }
    let drawn = sources * series.map_or(1, |series| dimensions[series].values.len());
    check_count(kind, drawn)?;
    Ok(Shape { kind, x, y, series, fixed: chooser.fixed })
}

fn check_count(kind: Kind, count: usize) -> Result<(), String> {
    let (most, instead) = match kind {
        Kind::Surface => (SURFACES_MAX, ", or draw heat maps with --kind=heatmap"),
        Kind::Heatmap => (HEATMAPS_MAX, ""),
        Kind::Lines | Kind::Bars => (SERIES_MAX, ""),
    };
    match count <= most {
        true => Ok(()),
        false => Err(format!(
            "{count} {} on one picture are too many, {most} can be told apart: choose some of them \
             with --at=DIMENSION=VALUE{instead}",
            match kind {
                Kind::Surface => "surfaces",
                Kind::Heatmap => "heat maps",
                Kind::Lines | Kind::Bars => "series",
            }
        )),
    }
}

/// Assigns dimensions to roles.
struct Chooser<'a> {
    dimensions: &'a [Dimension],
    x: Option<usize>,
    y: Option<usize>,
    series: Option<usize>,
    fixed: Vec<usize>,
    /// Varied dimensions without a role.
    free: Vec<usize>,
}

impl<'a> Chooser<'a> {
    fn new(dimensions: &'a [Dimension], request: &Request) -> Result<Chooser<'a>, String> {
        let mut fixed = vec![0; dimensions.len()];
        let mut free: Vec<usize> =
            (0..dimensions.len()).filter(|index| dimensions[*index].values.len() > 1).collect();
        for (name, value) in &request.at {
            let dimension = find(dimensions, name, "--at")?;
            fixed[dimension] = place(&dimensions[dimension], value)?;
            free.retain(|index| *index != dimension);
        }
        let mut roles = [None; 3];
        let wanted = [("--x", &request.x), ("--y", &request.y), ("--series", &request.series)];
        for (role, (flag, name)) in roles.iter_mut().zip(wanted) {
            let Some(name) = name else { continue };
            let dimension = find(dimensions, name, flag)?;
            if !free.contains(&dimension) {
                let why = match dimensions[dimension].values.len() {
                    0 | 1 => "it has one value only",
                    _ => "it has another place already",
                };
                return Err(format!("{flag}={name}: {why}; {}", described(dimensions)));
            }
            free.retain(|index| *index != dimension);
            *role = Some(dimension);
        }
        let [x, y, series] = roles;
        Ok(Chooser { dimensions, x, y, series, fixed, free })
    }

    /// The requested kind, or the one that suits the dimensions.
    fn kind(&self, request: &Request) -> Kind {
        if let Some(kind) = request.kind {
            return kind;
        }
        let given = |role: Option<usize>| usize::from(role.is_some());
        let axes = self.free.len() + given(self.x) + given(self.y);
        if self.y.is_some() || axes >= 2 {
            return Kind::Heatmap;
        }
        let x = self.x.or(self.free.first().copied());
        match x.filter(|x| self.dimensions[*x].is_numeric()) {
            Some(_) => Kind::Lines,
            None => Kind::Bars,
        }
    }

    fn take(&mut self, choose: fn(&Self) -> Option<usize>) -> Option<usize> {
        let found = choose(self)?;
        self.free.retain(|index| *index != found);
        Some(found)
    }

    fn first(&self) -> Option<usize> {
        self.free.first().copied()
    }

    fn numbers_first(&self) -> Option<usize> {
        let mut numbers = self.free.iter().filter(|index| self.dimensions[**index].is_numeric());
        numbers.next().copied().or_else(|| self.first())
    }

    fn longest_number(&self) -> Option<usize> {
        let numbers = self.free.iter().filter(|index| self.dimensions[**index].is_numeric());
        let longest = numbers.max_by_key(|index| self.dimensions[**index].values.len());
        longest.copied().or_else(|| self.first())
    }
}

fn find(dimensions: &[Dimension], name: &str, flag: &str) -> Result<usize, String> {
    let found = dimensions.iter().position(|dimension| dimension.name == name);
    found
        .ok_or_else(|| format!("{flag}: there is no dimension '{name}'; {}", described(dimensions)))
}

/// The number of a value, which may be written otherwise when it is a number.
fn place(dimension: &Dimension, value: &str) -> Result<usize, String> {
    let number = suite::grid::GridValue::new(value).number;
    let values = || dimension.values.iter();
    let same = values().position(|known| known.text == value);
    let equal = || values().position(|known| number.is_some() && known.number == number);
    same.or_else(equal).ok_or_else(|| {
        let all: Vec<&str> = values().map(|known| known.text.as_str()).collect();
        format!("--at: {} was never {value}; it was {}", dimension.name, all.join(", "))
    })
}

/// All dimensions with their values.
fn described(dimensions: &[Dimension]) -> String {
    let one = |dimension: &Dimension| {
        let values: Vec<&str> = dimension.values.iter().map(|value| value.text.as_str()).collect();
        format!("{} ({})", dimension.name, values.join(", "))
    };
    match dimensions.is_empty() {
        true => "there are none".into(),
        false => {
            format!("there are {}", dimensions.iter().map(one).collect::<Vec<_>>().join("; "))
        }
    }
}
