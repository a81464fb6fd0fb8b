// Prints what CHANGELOG.md says of the version that the tag names (`node .ci/notes.mjs v0.1.0`); fails if it says nothing.
import { readFileSync } from 'node:fs';

const [tag = ''] = process.argv.slice(2);
const version = tag.replace(/^v/, '');
const sections = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8').split(/^## /m);
const section = sections.find((text) => text.startsWith(`[${version}]`));
const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
if (version === '' || notes === '') {
  console.error(`CHANGELOG.md has no section "## [${version}]": rename "Unreleased" to it, with the date.`);
  process.exitCode = 1;
} else {
  console.log(notes);
}
