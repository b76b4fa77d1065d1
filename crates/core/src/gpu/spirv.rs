//! What a module in SPIR-V says of itself: its capabilities, entry points, and what a pipeline may set. No instruction
//! of a function is read.

use std::collections::{HashMap, HashSet};

const MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction.
const HEADER: usize = 5;

/// A module, as far as it is declared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpirvModule {
    /// All its words.
    pub words: Vec<u32>,
    /// Major and minor version of SPIR-V.
    pub version: [u8; 2],
    /// Numbers of capabilities, in order.
    pub capabilities: Vec<u32>,
    /// Entry points for compute.
    pub entries: Vec<SpirvEntry>,
    /// Constants that a pipeline may set, and have a name.
    pub constants: Vec<SpecConstant>,
    /// Whether it has push constants.
    pub has_push_constants: bool,
    /// The variables that descriptors bind.
    pub bindings: Vec<SpirvBinding>,
}

/// A variable that a descriptor binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpirvBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding in the set.
    pub binding: u32,
    /// What it is.
    pub kind: BindingKind,
}

/// What a descriptor binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// A buffer that kernels read and write.
    Storage,
    /// A uniform buffer.
    Uniform,
    /// An image, a sampler, or an array of any.
    Other,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct SpirvEntry {
    /// Its name.
    pub name: String,
    /// Work-items of a group along each dimension, where it says so.
    pub group: Option<[GroupSize; 3]>,
}

/// Work-items of a group along one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupSize {
    /// As the module has it.
    Fixed(u32),
    /// As the pipeline sets the constant of this `SpecId`.
    Constant(u32),
}

/// A constant that a pipeline may set.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecConstant {
    /// Its name in the source, which a compiler keeps.
    pub name: String,
    /// Its `SpecId`.
    pub id: u32,
    /// What it is.
    pub r#type: SpecType,
}

/// The type of such a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecType {
    /// Four bytes to the API.
    Bool,
    /// So many bits, signed or not.
    Int(u32),
    /// So many bits.
    Float(u32),
}

impl SpecConstant {
    /// The bytes of a value; `None` where the type does not hold it.
    pub fn bytes(&self, value: f64) -> Option<Vec<u8>> {
        match self.r#type {
            SpecType::Bool if value == 0.0 || value == 1.0 => {
                Some((value as u32).to_ne_bytes().to_vec())
            }
            SpecType::Int(bits) if is_whole(value, bits) => match bits {
                8 => Some((value as i64 as u8).to_ne_bytes().to_vec()),
                16 => Some((value as i64 as u16).to_ne_bytes().to_vec()),
                32 => Some((value as i64 as u32).to_ne_bytes().to_vec()),
                64 => Some((value as i64).to_ne_bytes().to_vec()),
                _ => None,
            },
            SpecType::Float(16) => {
                let half = half::f16::from_f64(value);
                half.is_finite().then(|| half.to_bits().to_ne_bytes().to_vec())
            }
            SpecType::Float(32) => {
                let single = value as f32;
                single.is_finite().then(|| single.to_ne_bytes().to_vec())
            }
            SpecType::Float(64) => Some(value.to_ne_bytes().to_vec()),
            _ => None,
        }
    }
}

/// Whether a number is a whole one of so many bits, signed or not.
fn is_whole(value: f64, bits: u32) -> bool {
    let end = 2f64.powi(bits.min(64) as i32);
    value.fract() == 0.0 && value.abs() < 9e15 && (-end / 2.0..end).contains(&value)
}

/// What of the instructions is needed, by the numbers of results.
#[derive(Default)]
struct Declared {
    names: HashMap<u32, String>,
    types: HashMap<u32, SpecType>,
    /// Numbers of constants of 32 bits.
    values: HashMap<u32, u32>,
    composites: HashMap<u32, Vec<u32>>,
    spec_types: Vec<(u32, SpecType)>,
    spec_ids: HashMap<u32, u32>,
    sets: HashMap<u32, u32>,
    bindings: Vec<(u32, u32)>,
    structs: HashSet<u32>,
    buffer_blocks: HashSet<u32>,
    /// What pointers point to.
    pointers: HashMap<u32, u32>,
    /// Type and storage class of variables.
    variables: HashMap<u32, [u32; 2]>,
    workgroup_size: Option<u32>,
    entries: Vec<(u32, String)>,
    local_sizes: HashMap<u32, [u32; 3]>,
}

impl SpirvModule {
    /// The latest version that Vulkan 1.1 takes, as which all devices are opened.
    pub const LATEST: [u8; 2] = [1, 3];

    /// Words before the first instruction.
    pub const HEADER: usize = HEADER;

    /// Reads a file.
    ///
    /// # Errors
    /// Why it is no module.
    pub fn read(file: &[u8]) -> Result<Self, String> {
        let words: Vec<u32> =
            file.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        if words.first() == Some(&MAGIC.swap_bytes()) {
            return Err(
                "it is SPIR-V in big-endian order: write it in little-endian order".to_owned()
            );
        }
        if words.first() != Some(&MAGIC) {
            return Err("it is no SPIR-V: that begins with the number 0x07230203".to_owned());
        }
        check_lengths(file.len(), &words)?;
        let [_, minor, major, _] = words[1].to_le_bytes();
        let mut module = Self { version: [major, minor], ..Self::default() };
        let mut declared = Declared::default();
        for (op, instruction) in Self::instructions(&words).take_while(|(op, _)| *op != FUNCTION) {
            module.note(&mut declared, op, &instruction[1..]);
        }
        module.entries =
            declared.entries.iter().map(|(id, name)| declared.entry(*id, name)).collect();
        module.constants = declared.constants();
        module.bindings =
            declared.bindings.iter().map(|&(id, at)| declared.bound(id, at)).collect();
        Ok(Self { words, ..module })
    }

    /// The instructions of a module's words, each with its number; they end before what is none.
    pub fn instructions(words: &[u32]) -> impl Iterator<Item = (u32, &[u32])> {
        let mut rest = words.get(HEADER..).unwrap_or_default();
        std::iter::from_fn(move || {
            let length = (rest.first()? >> 16) as usize;
            let (instruction, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some((instruction.first()? & 0xffff, instruction))
        })
    }

    fn note(&mut self, declared: &mut Declared, op: u32, words: &[u32]) {
        match (op, words) {
            (CAPABILITY, [capability, ..]) => self.capabilities.push(*capability),
            (VARIABLE, [r#type, id, class, ..]) => {
                self.has_push_constants |= *class == PUSH_CONSTANT;
                declared.variables.insert(*id, [*r#type, *class]);
            }
            _ => declared.note(op, words),
        }
    }
}

const NAME: u32 = 5;
const ENTRY_POINT: u32 = 15;
const GL_COMPUTE: u32 = 5;
const EXECUTION_MODE: u32 = 16;
const LOCAL_SIZE: u32 = 17;
const CAPABILITY: u32 = 17;
const TYPE_BOOL: u32 = 20;
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const TYPE_STRUCT: u32 = 30;
const TYPE_POINTER: u32 = 32;
const CONSTANT: u32 = 43;
const CONSTANT_COMPOSITE: u32 = 44;
const SPEC_CONSTANT_TRUE: u32 = 48;
const SPEC_CONSTANT_FALSE: u32 = 49;
const SPEC_CONSTANT: u32 = 50;
const SPEC_CONSTANT_COMPOSITE: u32 = 51;
const FUNCTION: u32 = 54;
const VARIABLE: u32 = 59;
const UNIFORM: u32 = 2;
const PUSH_CONSTANT: u32 = 9;
const STORAGE_BUFFER: u32 = 12;
const DECORATE: u32 = 71;
const SPEC_ID: u32 = 1;
const BUFFER_BLOCK: u32 = 3;
const BUILT_IN: u32 = 11;
const WORKGROUP_SIZE: u32 = 25;
const BINDING: u32 = 33;
const DESCRIPTOR_SET: u32 = 34;

impl Declared {
    fn note(&mut self, op: u32, words: &[u32]) {
        match (op, words) {
            (NAME, [id, name @ ..]) => {
                self.names.insert(*id, text(name));
            }
            (ENTRY_POINT, [GL_COMPUTE, id, name @ ..]) => self.entries.push((*id, text(name))),
            (EXECUTION_MODE, [id, LOCAL_SIZE, x, y, z]) => {
                self.local_sizes.insert(*id, [*x, *y, *z]);
            }
            (TYPE_BOOL, [id]) => self.r#type(*id, SpecType::Bool),
            (TYPE_INT, [id, bits, _]) => self.r#type(*id, SpecType::Int(*bits)),
            (TYPE_FLOAT, [id, bits, ..]) => self.r#type(*id, SpecType::Float(*bits)),
            (TYPE_STRUCT, [id, ..]) => {
                self.structs.insert(*id);
            }
            (TYPE_POINTER, [id, _, to]) => {
                self.pointers.insert(*id, *to);
            }
            (CONSTANT | SPEC_CONSTANT, [r#type, id, value, ..]) => {
                self.values.insert(*id, *value);
                self.spec(op != CONSTANT, *r#type, *id);
            }
            (SPEC_CONSTANT_TRUE | SPEC_CONSTANT_FALSE, [r#type, id]) => {
                self.spec(true, *r#type, *id);
            }
            (CONSTANT_COMPOSITE | SPEC_CONSTANT_COMPOSITE, [_, id, parts @ ..]) => {
                self.composites.insert(*id, parts.to_vec());
            }
            (DECORATE, [id, decoration, rest @ ..]) => self.decoration(*id, *decoration, rest),
            _ => {}
        }
    }

    fn decoration(&mut self, id: u32, decoration: u32, rest: &[u32]) {
        match (decoration, rest) {
            (SPEC_ID, [number]) => {
                self.spec_ids.insert(id, *number);
            }
            (BUFFER_BLOCK, []) => {
                self.buffer_blocks.insert(id);
            }
            (BUILT_IN, [WORKGROUP_SIZE]) => self.workgroup_size = Some(id),
            (BINDING, [number]) => self.bindings.push((id, *number)),
            (DESCRIPTOR_SET, [number]) => {
                self.sets.insert(id, *number);
            }
            _ => {}
        }
    }

    fn bound(&self, id: u32, binding: u32) -> SpirvBinding {
        let set = self.sets.get(&id).copied().unwrap_or(0);
        let variable = self.variables.get(&id);
        let block = variable.and_then(|[r#type, _]| self.pointers.get(r#type));
        let block = block.filter(|block| self.structs.contains(block));
        let kind = match (variable.map(|[_, class]| *class), block) {
            (Some(STORAGE_BUFFER), Some(_)) => BindingKind::Storage,
            // As before SPIR-V 1.3.
            (Some(UNIFORM), Some(block)) if self.buffer_blocks.contains(block) => {
                BindingKind::Storage
            }
            (Some(UNIFORM), Some(_)) => BindingKind::Uniform,
            _ => BindingKind::Other,
        };
        SpirvBinding { set, binding, kind }
    }

    fn r#type(&mut self, id: u32, r#type: SpecType) {
        self.types.insert(id, r#type);
    }

    fn spec(&mut self, may_be_set: bool, r#type: u32, id: u32) {
        if let (true, Some(r#type)) = (may_be_set, self.types.get(&r#type)) {
            self.spec_types.push((id, *r#type));
        }
    }

    /// The group is the built-in constant's, where there is one, whatever else the entry point says.
    fn entry(&self, id: u32, name: &str) -> SpirvEntry {
        let group = match self.workgroup_size {
            Some(size) => {
                let parts = self.composites.get(&size).map(Vec::as_slice).unwrap_or_default();
                <[u32; 3]>::try_from(parts).ok().and_then(|parts| self.sizes(parts))
            }
            None => self.local_sizes.get(&id).map(|sizes| sizes.map(GroupSize::Fixed)),
        };
        SpirvEntry { name: name.to_owned(), group }
    }

    fn sizes(&self, ids: [u32; 3]) -> Option<[GroupSize; 3]> {
        let size = |id: u32| match self.spec_ids.get(&id) {
            Some(number) => Some(GroupSize::Constant(*number)),
            None => self.values.get(&id).copied().map(GroupSize::Fixed),
        };
        Some([size(ids[0])?, size(ids[1])?, size(ids[2])?])
    }

    fn constants(&self) -> Vec<SpecConstant> {
        let of = |&(id, r#type): &(u32, SpecType)| {
            let (name, number) = (self.names.get(&id)?, self.spec_ids.get(&id)?);
            Some(SpecConstant { name: name.clone(), id: *number, r#type })
        };
        self.spec_types.iter().filter_map(of).collect()
    }
}

/// A text, which ends at a byte of zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// Whether the instructions end where the file does.
///
/// # Errors
/// Where the file was cut, or what stands there is no instruction.
fn check_lengths(bytes: usize, words: &[u32]) -> Result<(), String> {
    let cut = || format!("it is cut: {bytes} bytes end within a word or an instruction");
    if !bytes.is_multiple_of(4) || words.len() < HEADER {
        return Err(cut());
    }
    let lengths = SpirvModule::instructions(words).map(|(_, instruction)| instruction.len());
    let end = HEADER + lengths.sum::<usize>();
    match words.get(end) {
        None => Ok(()),
        Some(first) if first >> 16 == 0 => Err(format!("its word {end} is no instruction")),
        Some(_) => Err(cut()),
    }
}

#[cfg(test)]
mod tests;
