import { readFile, writeFile } from 'node:fs/promises';
import {
  ATTACHMENT_RESPONSES,
  ESSENTIAL_FIELDS,
  SENDING_CALLS,
} from '../../sandbox/fuzz/drift-essentials.ts';
import { createAppLink, manifestVariant, readManifestFile } from '../../setup/manifest-file.ts';
import { settingRows } from '../../src/config/environment-and-secret-files.ts';
import { exitIfHelpIsAsked } from '../../src/operate/command-runner.ts';
import { agentWords } from '../../src/render/strings/index.ts';
import { assumptionsTable } from './service-assumptions.ts';

const root = new URL('../../', import.meta.url);

const note = '<!-- Made by npm run readme; change the code, not this page. -->';

/** The pages that the code prints, by their path. */
export function generatedPages(): Readonly<Record<string, string>> {
  return {
    'src/slack/manifest.generated.json': `${JSON.stringify(readManifestFile(), undefined, 2)}\n`,
    'docs/settings.md': settingsPage(),
    'docs/service-assumptions.md': assumptionsPage(),
  };
}

/** The pages that link to Slack's page for a new app. */
export const PAGES_WITH_LINK = ['README.md', 'docs/install.md'];

/** A page with the link to Slack's page for a new app, as `manifest.yml` makes it now. */
export function withCreateAppLink(page: string): string {
  return page.replace(/^\[create-app\]: .*$/m, `[create-app]: ${createAppLink(manifestVariant({}))}`);
}

/** The manifest with the words that may follow `/agent` as its hint. */
export function withAgentWords(manifest: string): string {
  const hint = [...Object.keys(agentWords), 'help'].join(' | ');
  return manifest.replace(/^( +usage_hint: ).*$/m, `$1"${hint}"`);
}

/** A page of the repository as it is. */
export async function readPage(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8');
}

function settingsPage(): string {
  const groups = Object.entries(Object.groupBy(settingRows(), ({ group }) => group)).map(
    ([group, rows = []]) => [
      `## ${group}`,
      '',
      '| setting | default | what it is |',
      '|---|---|---|',
      ...rows.map(
        ({ name, fallback, what, secret }) =>
          `| \`${name}\`${secret ? ' (secret)' : ''} | ${fallback === '' ? '-' : fallback} | ${what} |`,
      ),
      '',
    ],
  );
  return [
    '# Settings',
    '',
    note,
    '',
    'Settings are environment variables; `npm start` reads them from `.env` too. Each secret may stand in a file that',
    '`<NAME>_FILE` names. `npm start -- --help` prints this list.',
    '',
    ...groups.flat(),
  ].join('\n');
}

function assumptionsPage(): string {
  const essential = Object.entries(ESSENTIAL_FIELDS).map(([name, fields]) => {
    const lost = ATTACHMENT_RESPONSES.includes(name) ? "a person's file" : 'the answer or its results';
    return `| ${name} | ${codes(fields)} | ${lost} |`;
  });
  return [
    '# Service assumptions',
    '',
    note,
    '',
    "The agent service's document leaves these points open. Each one that has a setting can be changed in `AGENT_DIALECT`, a",
    'JSON object such as `{"listTasksProjectParam":"project"}`.',
    '',
    assumptionsTable().trimEnd(),
    '',
    'Taskthread also assumes the following:',
    '',
    '- A reply names the message that it answers. After one that failed, the service may begin another, which counts.',
    '- A reply may be complete while its task still works. Taskthread waits a minute for the task, and then',
    '  watches it as long as it works, for a week at most.',
    '- A run without new content may be waiting for a person. The thread says so after 30 seconds, or',
    '  two minutes while a tool works.',
    '- `skill` may have no effect in an existing task.',
    "- A review's findings can be read once its status is no longer `running`.",
    '- The service refuses a wrong key for every call. Where nothing else succeeds, this shows that the service itself answers,',
    '  not a gateway in front of it.',
    '- The list of the tasks of a project that does not exist is refused with 404.',
    '- A change of a project without fields returns the project: no documented call reads one. Only the form with its title',
    '  and description uses it; it may refresh `updated_at`.',
    '',
    'A response without one of the following fields is refused, and an item of a list without one is left out; of a block of',
    'text without it, the answer says that it cannot be shown. A reply needs no `content` while it is written, or with an',
    '`error`, which the thread then shows. An upload also needs the fields of its response above. Without any other field, the',
    'answer and its results still arrive.',
    '',
    'A status, role or stop reason may be in capitals, and `canceled` means `cancelled`. A reply with a time of completion is',
    'complete, unless its status is `pending`, `streaming` or `cancelling`. The response to a change, a cancel or a deletion may be empty.',
    'An id may be a whole number, and a time may be seconds or milliseconds since 1970. A result with the id of an earlier one, but',
    'another size or time of creation, is a new version of it. A list without items may be `null`.',
    '',
    '| response or item | fields | may be missing without one |',
    '|---|---|---|',
    ...essential,
    '',
    'The answer and its results also arrive where a call fails once, with any status or with a body that cannot be read. Only a',
    'status from 400 to 499 in response to one of these calls refuses the message; the thread then says that it was not sent:',
    '',
    ...SENDING_CALLS.map((call) => `- \`${call}\``),
    '',
    'The thread says what is missing. `npm run fuzz -- --drift` tries each field and status.',
    '',
  ].join('\n');
}

function codes(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(', ');
}

if (import.meta.main) {
  exitIfHelpIsAsked('Usage: npm run readme\n\nGenerates the pages of docs/ that follow from the code.');
  await writeFile(new URL('manifest.yml', root), withAgentWords(await readPage('manifest.yml')));
  for (const [path, text] of Object.entries(generatedPages())) await writeFile(new URL(path, root), text);
  for (const path of PAGES_WITH_LINK)
    await writeFile(new URL(path, root), withCreateAppLink(await readPage(path)));
}
