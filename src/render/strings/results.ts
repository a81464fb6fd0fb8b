import { counted, shorten, toOneLine } from '../text-format.ts';
import { buttons } from './buttons.ts';
import { withReason } from './turn-errors.ts';

/** What stands in and below an answer: its rest, its results and their links, its review and its steps. */

export const restInFile = 'The rest of the answer follows in a file.';
export const restOfAnswer = 'The rest of the answer';

/** Below an answer that is still being written and exceeds its messages; `characters` is its length so far. */
export function answerContinues(characters: number): string {
  const count = characters < 1_000 ? characters : Math.floor(characters / 1_000) * 1_000;
  return `The answer is still growing, with ${count.toLocaleString('en-US')} characters so far. I'll share the rest as a file when it's done.`;
}

/** Stands in the text for a picture that the thread shows below, or that is still to come. */
export const figureBelow = (name: string) => `Figure: ${name}, below`;

/** Stands in the text for a picture whose file never came; its label may be ''. */
export const figureInWords = (label: string, name: string) =>
  label === '' || label === name ? `Figure: ${name}` : `Figure: ${label} (${name})`;

/** Names a table of more than one row for screen readers. */
export const tableCaption = (rows: number) => `Table with ${counted(rows, 'row')}`;

/** Below a table of which the thread shows only the first rows or columns. */
export const firstOfTable = (shown: number, all: number, what: 'rows' | 'columns') =>
  `The table shows the first ${shown} of ${all.toLocaleString('en-US')} ${what}. A file with all of them follows.`;

/** Stand in the answer for a picture or a file that the agent wrote as encoded text. */
export const embeddedPicture = '(picture)';
export const embeddedFile = '(file)';

/** Stands in the answer for a block that Slack cannot show. */
export const unsupportedBlock = (type: string) =>
  `(The agent also sent a block of type “${type || 'unknown'}”, which I can't show here.)`;

export const freshLinksTitle = 'Fresh links';
/** The links do not fit a modal. */
export const freshLinksBelow =
  "There are too many links for this window. They're at the end of the thread, where only you see them.";
export const filesNotFound = 'The agent service no longer has these files.';

/** What the modal of Download all and a direct message say about the ZIP file of an answer's files. */
export const answerFiles = {
  begun: "I'm packing the files of this answer. They come as one ZIP file in your direct messages with me.",
  uploading: "The files are packed, and I'm sending them to your direct messages with me.",
  done: 'The files of this answer are in your direct messages with me.',
  gone: filesNotFound,
  tooLarge:
    'These files are too large for one ZIP file of at most 1 GB, or for my disk. Download them one by one.',
  failed: "I couldn't pack the files of an answer that you asked for. Press Download all again.",
  /** `files` are names, each with the reason. */
  missing: (files: readonly string[]) => `Not in the ZIP file: ${shorten(files.join('; '), 2_000)}.`,
} as const;

/** What brings new links, if anything does. */
const linkRenewals = {
  none: '.',
  button: `; press ${buttons.fresh_links.label} for new ones.`,
  modal: '; open this again for new ones.',
} as const;

/** Until when links work, in mrkdwn, in the reader's time zone; undefined if that is unknown. */
export function linksHint(until: Date | undefined, renewal: keyof typeof linkRenewals): string {
  if (until === undefined) return `These links work for a limited time${linkRenewals[renewal]}`;
  const utc = `${until.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const seconds = Math.floor(until.getTime() / 1_000);
  return `These links work until <!date^${seconds}^{date_short_pretty} at {time}|${utc}> at the latest${linkRenewals[renewal]}`;
}

export const moreResultsHint = `The other files do not fit here; press ${buttons.fresh_links.label} for links to all of them.`;
export const resultsIncomplete =
  'The agent service listed only some of its files, so this may not be all of them. Ask the agent for a single archive of the files, or tell your app admin.';
export const resultTooLarge = 'too large to show here';
export const resultInAnswer = 'shown in the answer';
export const resultNotShown = "couldn't be shown here";
export const resultUpdated = 'updated';
export const linkTooLong = `link too long for Slack; press ${buttons.fresh_links.label}`;
export const noLink = 'no link';
/** The page before a file of a service that a workspace's admin chose; `host` is ASCII. */
export const ownServicePage = (host: string) => ({
  title: `The file is at ${host}`,
  text: "The agent service that your workspace's admins chose offers it there. If you don't trust that address, close this page.",
  open: 'Open the file',
});
export const linksRefused = "Slack didn't accept the links to these files.";
export const resultsUnavailable = "I couldn't read which files the agent made for this answer.";
/** The heading over the results `from` to `to` of `count`. `isLater`: they arrived after their turn ended. */
export function resultsHeading(count: number, from: number, to: number, isLater = false): string {
  const files = counted(count, 'file');
  const range = from === 1 && to === count ? '' : `, ${from} to ${to}`;
  return `${files} from the agent${range}${isLater ? ', made after the answer' : ''}`;
}

/** Beside a file that is only linked, since the thread shows `most` files already. */
export const resultsShown = (most: number) => `only linked, since I show at most ${most} files`;

export const reviewHeading = 'A review of the work in this thread:';
export const reviewEmpty = 'A review of the work in this thread finished without findings.';
export const reviewUnreadable =
  "A review of the work in this thread finished, but I can't read its findings. Ask the agent for them.";
export const restOfReview = 'The rest of the review';
export const reviewTooLong = "The review continues, but it's too long to post here.";

/** `reason` is what the service said, or ''. */
export const reviewFailed = (reason: string) =>
  `A review of the work in this thread failed${withReason(reason)} The answer is unchanged.`;

export const noSteps = 'The agent used no tools for this answer.';
export const stepsNotFound = 'The agent service no longer has this answer, so its steps are gone.';
export const stepInput = 'Input';
export const stepOutput = 'Output';
export const stepWithoutOutput = 'No output.';

export const feedback = {
  thanks: 'Thanks for your feedback! To change it, press the other thumb.',
  title: 'Comment on an answer',
  label: "What was good, what wasn't?",
  hint: 'Your app admins read this; the agent does not.',
  tooLate: 'This answer is too old to comment on. Press a thumb below a newer one.',
  saved: 'Thanks, your comment is saved. Your app admins can read it.',
  heading: 'Comments on answers',
  none: 'There are no comments from the last seven days.',
  /** Above a new comment in the channel for feedback; `who` is a name. */
  received: (thumb: string, who: string) => `${thumb} ${who} commented on an answer:`,
} as const;

/** Most numbers that are named where two answers differ. */
const MAX_NAMED_DIFFERENCES = 5;

/** Below an answer to a question that was asked again: how its numbers compare with those of the earlier one. */
export function comparedWithEarlier(result: {
  compared: number;
  isRounded: boolean;
  differing: readonly { column: string; row: string; values: readonly string[] }[];
  unmatchedRows: number;
}): string {
  const { compared, isRounded, differing, unmatchedRows } = result;
  const named = differing.slice(0, MAX_NAMED_DIFFERENCES).map(({ column, row, values }) => {
    const what = shorten(toOneLine(row === '' ? column : `${column} of ${row}`), 80);
    return `${what} differs: ${values.map((value) => shorten(toOneLine(value), 24)).join(', ')}`;
  });
  const more = differing.length - named.length;
  const parts = [
    `${compared - differing.length} of ${counted(compared, 'figure')} ${compared === 1 ? 'agrees' : 'agree'} within 1 %${isRounded ? ' or as rounded' : ''}`,
    ...named,
    ...(more > 0 ? [`${more} more differ`] : []),
    ...(unmatchedRows > 0 ? [`${counted(unmatchedRows, 'row')} in one of the answers only`] : []),
  ];
  return `Compared with the earlier answer: ${parts.join('; ')}.`;
}
