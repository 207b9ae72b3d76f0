//! The folder of a report: it writes over what an earlier report of the same scenario left, and
//! over nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::exit::{Failure, shown};

/// The file that lists the others.
const MANIFEST: &str = "manifest.json";
/// The version of the list.
const SCHEMA: &str = "manifest/1";
/// The folder of stored counterexamples; they are listed, and stay when the report is renewed.
const FINDINGS: &str = "counterexamples";

/// A report's folder that may be written.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    earlier: Manifest,
    force: bool,
    made: Vec<PathBuf>,
}

/// What a report consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// The version of the list.
    pub(crate) schema: String,
    /// The version of the tool that wrote it.
    pub(crate) tool: String,
    /// The scenario's name.
    pub(crate) scenario: String,
    /// The resolved scenario's hash.
    pub(crate) scenario_sha256: String,
    /// The seed.
    pub(crate) seed: String,
    /// The run's hash.
    pub(crate) hash: String,
    /// What came of it.
    pub(crate) verdict: String,
    /// The files, with the hash of each.
    pub(crate) files: BTreeMap<String, String>,
}

/// A file of a report: its name in the folder, and its bytes.
pub(crate) type File = (String, Vec<u8>);

impl Folder {
    /// Opens a folder for the report of a scenario, and makes sure that it can be written.
    pub(crate) fn open(path: &Path, scenario: &str, force: bool) -> Result<Self, Failure> {
        let made = path.ancestors().take_while(|path| !path.as_os_str().is_empty());
        let made = made.take_while(|path| !path.exists()).map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(|error| Failure::writing(path, &error))?;
        let probe = tempfile::NamedTempFile::new_in(path);
        drop(probe.map_err(|error| Failure::writing(path, &error))?);
        let earlier = manifest(path)?.unwrap_or_default();
        let is_other = !earlier.scenario.is_empty() && earlier.scenario != scenario;
        if is_other && !force {
            return Err(Failure::Output(format!(
                "{} holds the report of {}; choose another folder with -o, or write over it with \
                 --force",
                shown(path),
                earlier.scenario
            )));
        }
        Ok(Self { path: path.to_owned(), earlier, force, made })
    }

    /// Leaves the folder as it was found.
    pub(crate) fn leave(self) {
        for folder in &self.made {
            // Somebody may have put something there meanwhile; then it stays.
            let _ = fs::remove_dir(folder);
        }
    }

    /// Writes a report: the list first, so that whatever happens next, each file is a listed one.
    pub(crate) fn write(&mut self, mut manifest: Manifest, files: &[File]) -> Result<(), Failure> {
        for (name, _) in files {
            self.refuse_foreign(name)?;
        }
        self.refuse_foreign(MANIFEST)?;
        manifest.schema = SCHEMA.to_owned();
        let is_finding = |name: &str| name.starts_with(FINDINGS);
        manifest.files = files.iter().map(|(name, bytes)| (name.clone(), sha256(bytes))).collect();
        for (name, hash) in self.earlier.files.iter().filter(|(name, _)| is_finding(name)) {
            manifest.files.entry(name.clone()).or_insert_with(|| hash.clone());
        }
        self.put_list(&manifest)?;
        for (name, bytes) in files {
            self.put(name, bytes)?;
        }
        for name in self.earlier.files.keys().filter(|name| !manifest.files.contains_key(*name)) {
            if is_plain(name) {
                // A file that is gone already needs no removing.
                let _ = fs::remove_file(self.path.join(name));
            }
        }
        self.earlier = manifest;
        Ok(())
    }

    /// Refuses to write over a file that no earlier report wrote.
    fn refuse_foreign(&self, name: &str) -> Result<(), Failure> {
        let path = self.path.join(name);
        let is_listed = self.earlier.files.contains_key(name)
            || (name == MANIFEST && !self.earlier.schema.is_empty());
        if self.force || is_listed || fs::symlink_metadata(&path).is_err() {
            return Ok(());
        }
        Err(Failure::Output(format!(
            "{} is no part of an earlier report; move it, choose another folder with -o, or write \
             over it with --force",
            shown(&path)
        )))
    }

    fn put_list(&self, manifest: &Manifest) -> Result<(), Failure> {
        let mut text = serde_json::to_string_pretty(manifest).expect("a manifest is plain data");
        text.push('\n');
        self.put(MANIFEST, text.as_bytes())
    }

    /// Writes a file under a temporary name and renames it.
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let path = self.path.join(name);
        put(&path, bytes).map_err(|error| Failure::writing(&path, &error))
    }
}

fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or_else(|| Path::new("."));
    fs::create_dir_all(parent)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // A report is to be shared as far as the user's mask allows; temporary files are not.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.prefix(".fencepost-").tempfile_in(parent)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Reads a folder's list; a file of that name that is no list of ours is left alone.
fn manifest(folder: &Path) -> Result<Option<Manifest>, Failure> {
    let path = folder.join(MANIFEST);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::InvalidData => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::writing(&path, &error)),
    };
    let read = serde_json::from_str::<Manifest>(&text).ok();
    Ok(read.filter(|manifest| manifest.schema == SCHEMA))
}

/// Returns whether a name from a list stays inside the folder.
fn is_plain(name: &str) -> bool {
    Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// Returns the hash by which results name a text.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the name of a counterexample's file in a report's folder.
pub(crate) fn finding_name(file: &str) -> String {
    format!("{FINDINGS}/{file}")
}

#[cfg(test)]
mod tests;
