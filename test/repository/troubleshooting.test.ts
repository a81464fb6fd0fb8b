import { expect, test } from 'vitest';
import { quotesOf, readSource } from './docs-checks.ts';
import { readPage } from './generated-pages.ts';
import { countWords, readSpokenTexts } from './spoken-sentences.ts';

const forPeople = await readPage('docs/troubleshooting.md');
const forOperators = await readPage('docs/operator-troubleshooting.md');
const spoken = readSpokenTexts();

/** Texts that report no trouble, by their names in src/render/strings: docs/troubleshooting.md leaves them out. */
const otherTexts = {
  help: [
    'help',
    'helpInThread',
    'helpInDm',
    'agentWords',
    'commandHelp',
    'prompts',
    'welcome',
    'home.about',
    'command.otherWords',
  ],
  'labels, headings and hints of forms': [
    'models',
    'startForm.channelHint',
    'startForm.inThread',
    'startForm.asksAgain',
    'startForm.question',
    'startForm.optionalQuestion',
    'startForm.titleHint',
    'startForm.defaultModel',
    'startForm.skillHint',
    'startForm.skillWithoutInstructions',
    'startForm.promptHint',
    'startForm.filesHint',
    'startForm.fallback',
    'startForm.noFallback',
    'startForm.noFallbackHint',
    'startForm.autoModeHint',
    'startForm.planModeHint',
    'settings',
    'settingOrigins',
    'channelSettings',
    'workspaceSettings.title',
    'workspaceSettings.about',
    'channelsOverride',
    'operatorLimits',
    'account.own',
    'account.shared',
    'account.removeText',
    'account.address',
    'account.keyHint',
    'account.aboutChange',
    'tasks.deleteText',
    'usage.heading',
    'usage.about',
    'usage.aboutCsv',
    'home.ofChannel',
    'linkRenewals',
    'feedback.title',
    'feedback.label',
    'feedback.hint',
  ],
  'how work goes, and that it went well': [
    'phases.starting',
    'phases.uploading',
    'phases.working',
    'waitEnds',
    'stoppingFor',
    'backgroundNotices.stopping',
    'backgroundNotices.completed',
    'backgroundNotices.cancelled',
    'backgroundNotices.superseded',
    'messagePassedOn',
    'endMention',
    'stopTriggerReplies.withdrawn',
    'passingOn',
    'sendingInstead',
    'sendNowTooLate',
    'sendingReply',
    'listening',
    'listeningEnded',
    'pausedSent',
    'pausedDiscarded',
    'passingFiles',
    'filesReceived',
    'fileStates',
    'command.asked',
    'command.noneOfYours',
    'command.othersRunning',
    'command.yourTasks',
    'command.inYourThreads',
    'command.elsewhere',
    'command.hiddenTask',
    'command.more',
    'askedFirst',
    'askedAgain',
    'settingsSaved',
    'settingNotices',
    'projectUsed',
    'account.testing',
    'account.saved',
    'account.keyReplaced',
    'feedback.thanks',
    'feedback.saved',
    'feedback.none',
    'feedback.received',
    'reviewEmpty',
    'noSteps',
    'automatedNotice',
    'ncbiDisclaimer',
    // What the marks mean stands in docs/for-scientists.md.
    'sourcesNotChecked',
  ],
  'lists and what stands in them': [
    'home.noneOfYours',
    'messageAllowance',
    'fileAllowance',
    'home.noneWithoutAccess',
    'home.chooseChannel',
    'home.noneOfChannel',
    'home.loading',
    'askElsewhere',
    'answerFiles.begun',
    'answerFiles.uploading',
    'answerFiles.done',
    'tasks.automatic',
    'tasks.states',
    'tasks.noneHere',
    'tasks.noFiles',
    'tasks.filesLookedFor',
    'taskRecord.begun',
    'taskRecord.progress',
    'taskRecord.uploading',
    'taskRecord.done',
    'recordNotes',
    'tasks.input',
    'tasks.output',
    'tasks.fileOnTheWay',
    'tasks.fileSent',
    'tasks.deleting',
    'taskDeleted',
    'channelTasks',
    'usage.none',
    'usage.more',
    'resultsHeading',
    'resultInAnswer',
    'sourcesInSteps',
    'firstSourcesOnly',
    'reviewHeading',
    'restOfAnswer',
    'restOfReview',
    'comparedWithEarlier',
    'ownServicePage.title',
    'asksAbout',
    'asksAboutRoot',
    'instructionsSetBy',
    'withInstructions',
    'withoutInstructions',
    'projectOfChannel',
  ],
  'parts of a sentence': ['newTaskInDm.there', 'quotaReached.when', 'quotaReached.next', 'unknownSkill.next'],
  'frames around a reason': ['fileMissing'],
};

const isBelow = (path: string, name: string) => path === name || path.startsWith(`${name}.`);

test('every sentence of trouble that a person can read in Slack stands in docs/troubleshooting.md', () => {
  const quotes = quotesOf(forPeople);
  const others = Object.values(otherTexts).flat();
  expect(spoken.length).toBeGreaterThan(200);
  const missing = spoken.filter(
    ({ path, parts }) =>
      !others.some((name) => isBelow(path, name)) &&
      !parts.some((part) =>
        quotes.some((quote) => part.trim() === quote || (countWords(quote) > 2 && part.includes(quote))),
      ),
  );
  expect(missing.map(({ path, parts }) => `${path}: ${parts.join('…')}`)).toEqual([]);
});

test('the page leaves out no text that is not there', () => {
  const gone = Object.values(otherTexts)
    .flat()
    .filter((name) => !spoken.some(({ path }) => isBelow(path, name)));
  expect(gone).toEqual([]);
});

test.each([
  ['docs/troubleshooting.md', forPeople],
  ['docs/operator-troubleshooting.md', forOperators],
])('%s quotes only sentences that the program says', (_, page) => {
  const source = readSource().replaceAll("\\'", "'");
  const quotes = quotesOf(page);
  expect(quotes.length).toBeGreaterThan(50);
  expect(quotes.filter((quote) => !source.includes(quote))).toEqual([]);
});

test('no row of docs/troubleshooting.md only repeats its sentence', () => {
  const rows = [...forPeople.matchAll(/^\| (“.*) \| (.*) \|$/gm)];
  const words = (text: string) => new Set(text.toLowerCase().match(/[\p{L}']+/gu));
  const repeats = rows.filter(([, says = '', advice = '']) =>
    [...words(advice)].every((word) => words(says).has(word)),
  );
  expect(rows.length).toBeGreaterThan(50);
  expect(repeats.map(([row]) => row)).toEqual([]);
});
