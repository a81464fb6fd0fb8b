// Prints what CHANGELOG.md says of the version that the tag names (`node .ci/notes.mjs v0.1.0`). Fails if it says nothing, if
// package.json has another version, or if the first migration still changes its name with its SQL.
import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const [tag = ''] = process.argv.slice(2);
const version = tag.replace(/^v/, '');
const sections = read('CHANGELOG.md').split(/^## /m);
const section = sections.find((text) => text.startsWith(`[${version}]`));
const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
const packaged = JSON.parse(read('package.json')).version;
const complaints = [
  ...(version === '' || notes === ''
    ? [`CHANGELOG.md has no section "## [${version}]": rename "Unreleased" to it, with the date.`]
    : []),
  ...(packaged === version ? [] : [`package.json has the version ${packaged}: set it to ${version}.`]),
  ...(read('src/store/migrations.ts').includes('FINGERPRINT}')
    ? ["src/store/migrations.ts makes the baseline's name from its SQL: write its value there."]
    : []),
];
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
else console.log(notes);
