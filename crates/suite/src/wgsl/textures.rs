//! Buffers that a WGSL kernel reads as images, and their samplers.

use super::super::misfit::{About, Misfit};
use super::{Check, in_naga};
use gpubench_core::gpu::{Element, Image};
use naga::{GlobalVariable, ImageClass, ImageDimension, ScalarKind, TypeInner};

/// The texture whose elements these are.
fn texture(element: Element) -> &'static str {
    match in_naga(Image::read_as(element)).kind {
        ScalarKind::Sint => "texture_2d<i32>",
        ScalarKind::Uint => "texture_2d<u32>",
        _ => "texture_2d<f32>",
    }
}

impl Check<'_> {
    /// Buffer `i`, an image here, must meet the texture of its elements.
    pub(super) fn image(
        &self,
        binding: usize,
        i: usize,
        variable: &GlobalVariable,
    ) -> Option<Misfit> {
        let buffer = &self.source.bindings[i];
        let fits = match self.module.types[variable.ty].inner {
            TypeInner::Image { dim: ImageDimension::D2, arrayed: false, class } => {
                let kind = in_naga(Image::read_as(buffer.element)).kind;
                class == ImageClass::Sampled { kind, multi: false }
            }
            _ => false,
        };
        let (name, wanted) = (&buffer.name, texture(buffer.element));
        let place = self.place(binding);
        let misfit = || {
            let message = format!("buffer `{name}` is an image here, but {place} is no {wanted}");
            let help = format!("declare var {name}: {wanted} at binding {binding}");
            Misfit::new(About::Buffer(i), message, Some(help))
        };
        (!fits).then(misfit)
    }

    /// The sampler of buffer `i`, behind its image.
    pub(super) fn sampler(&self, binding: usize, i: usize) -> Option<Misfit> {
        let fits = self.at(binding).is_some_and(|variable| {
            self.module.types[variable.ty].inner == TypeInner::Sampler { comparison: false }
        });
        let place = self.place(binding);
        let misfit = || {
            let name = &self.source.bindings[i].name;
            let message = format!("image `{name}` has a `filter` here, but {place} is no sampler");
            let help = format!(
                "declare a var of type sampler at binding {binding}, or leave out `filter`"
            );
            Misfit::new(About::Buffer(i), message, Some(help))
        };
        (!fits).then(misfit)
    }
}
