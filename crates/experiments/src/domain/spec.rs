//! How a domain is cut into parts, and what they exchange, as a suite says it.

use crate::experiment::ToSchema;
use gpubench_core::workload::{Faces, Size, cut};
use gpubench_suite::Expression;
use gpubench_suite::Node;
use gpubench_suite::{At, Decode, Diagnostics};
use gpubench_suite::{Expr, OptionsContext, Partner, Place, Workload, WrongOption};
use schemars::SchemaGenerator;
use std::ops::Range;

gpubench_suite::spec! {
    /// How a domain is cut into parts whose halos are exchanged after every pass. The kernel changes
    /// one buffer of `f32` in place: fields of nx·ny·nz cells within a shell of one cell, x fastest. Its
    /// parameters `nx`, `ny` and `nz` count the cells, `x`, `y` and `z` say where in the domain they begin.
    HaloSpec {
        /// Parts along x, y and z: expressions over sizes and parameters that divide nx, ny and nz.
        cuts: At<Vec<At<Expression>>>,
        /// For each pass: which fields cells read of their neighbours once it has written them.
        exchange: At<Vec<At<ExchangeSpec>>>,
        /// The workload that gathers a box of the buffer `field` into `face`, with parameters as those
        /// of the shipped `pack_box`.
        pack: At<String>,
        /// The workload that scatters it, with the same parameters.
        unpack: At<String>,
    }
}

gpubench_suite::spec! {
    /// Fields by number, from 0 and at equal distances, along x, y and z.
    ExchangeSpec {
        /// Those read of the neighbour behind.
        behind: Vec<Vec<u32>>,
        /// Those read of the neighbour ahead.
        ahead: Vec<Vec<u32>>,
    }
}

/// How a domain is cut into parts whose halos are exchanged after every pass.
#[derive(Clone)]
pub struct Spec {
    /// Parts along x, y and z.
    pub cuts: [Expr; 3],
    /// What is exchanged after each pass.
    pub exchange: Vec<Faces>,
    /// Name of the workload that packs a face, and where it is named.
    pub pack: (String, Place),
    /// Name of the workload that unpacks it, and where it is named.
    pub unpack: (String, Place),
    /// Where the cuts and the exchanges stand.
    at: [Range<usize>; 2],
}

impl crate::experiment::Spec for Spec {
    const SCHEMA: Option<ToSchema> = Some(SchemaGenerator::subschema_for::<HaloSpec>);

    fn read(node: Option<&Node>, context: &mut OptionsContext) -> Option<Self> {
        let Some(node) = node else {
            let message = "this cuts a domain into parts that exchange halos: say how";
            let help = "`{ halo: { cuts: […], exchange: […], pack: …, unpack: … } }`";
            return context.diagnostics.reject(&context.at.clone(), message, Some(help));
        };
        let given = HaloSpec::decode(node, context.diagnostics)?;
        let cuts = cuts(&given.cuts, context)?;
        let exchange = given.exchange.value.iter();
        let exchange = exchange.map(|spec| faces(spec, context.diagnostics));
        Some(Self {
            cuts,
            exchange: exchange.collect::<Option<_>>()?,
            pack: context.named(&given.pack),
            unpack: context.named(&given.unpack),
            at: [given.cuts.at, given.exchange.at],
        })
    }

    fn partners(&self) -> Vec<Partner> {
        [&self.pack, &self.unpack].map(|named| Partner::new(named, "pack what is exchanged")).into()
    }

    fn wrong_at_size(
        &self,
        workload: &Workload,
        size: &Size,
        scope: &[(String, f64)],
    ) -> Vec<WrongOption> {
        let [cuts_at, exchange_at] = &self.at;
        let three = |all: [Result<u64, String>; 3]| -> Result<[u64; 3], String> {
            let [x, y, z] = all;
            Ok([x?, y?, z?])
        };
        let scope = scope.to_vec();
        let count = |expr: &Expr| expr.count(&scope);
        let cells = ["nx", "ny", "nz"].map(|name| count(&Expr::name(name)));
        let parts =
            three(cells).and_then(|cells| cut(cells, three(self.cuts.each_ref().map(count))?));
        let mut wrong = vec![];
        if let Err(why) = parts {
            wrong.push(WrongOption { what: "cuts", at: cuts_at.clone(), why });
        }
        let sizes: Vec<_> =
            size.iter().map(|(name, value)| (name.clone(), *value as f64)).collect();
        let passes = workload.passes.as_ref().map_or(Ok(1), |passes| passes.count(&sizes));
        if passes.is_ok_and(|passes| passes != self.exchange.len() as u64) {
            let why = format!("{} exchanges, one is needed after each pass", self.exchange.len());
            wrong.push(WrongOption { what: "exchange", at: exchange_at.clone(), why });
        }
        wrong
    }
}

fn cuts(cuts: &At<Vec<At<Expression>>>, context: &mut OptionsContext) -> Option<[Expr; 3]> {
    let At { value: cuts, at } = cuts;
    let [x, y, z] = cuts.as_slice() else {
        let message =
            format!("a domain is cut along x, y and z: three numbers, not {}", cuts.len());
        return context.diagnostics.reject(at, message, None);
    };
    for name in ["nx", "ny", "nz", "x", "y", "z"] {
        if !context.names.iter().any(|known| known == name) {
            let help = "a part is given its cells by `nx`, `ny` and `nz`, and where it begins by `x`, \
                        `y` and `z`";
            let message = format!("this needs a parameter `{name}`");
            return context.diagnostics.reject(at, message, Some(help));
        }
    }
    for cut in [x, y, z] {
        context.check_names(&cut.value, "cuts are made of sizes and parameters")?;
    }
    Some([x, y, z].map(|cut| cut.value.expr.clone()))
}

fn faces(spec: &At<ExchangeSpec>, diagnostics: &mut Diagnostics) -> Option<Faces> {
    let At { value: ExchangeSpec { behind, ahead }, at } = spec;
    let equal = |fields: &Vec<u32>| {
        let mut steps = fields.windows(2).map(|pair| pair[1].checked_sub(pair[0]));
        let first = steps.next();
        first.is_none_or(|first| first > Some(0) && steps.all(|step| step == first))
    };
    let why = if behind.len() != 3 || ahead.len() != 3 {
        "there is one list of fields along each of x, y and z"
    } else if !behind.iter().chain(ahead).all(equal) {
        "fields that travel together are in ascending order, at equal distances"
    } else if behind.iter().chain(ahead).all(Vec::is_empty) {
        "nothing is exchanged after this pass"
    } else {
        let three = |all: &[Vec<u32>]| std::array::from_fn(|axis| all[axis].clone());
        return Some(Faces { behind: three(behind), ahead: three(ahead) });
    };
    diagnostics.reject(at, why, None)
}
