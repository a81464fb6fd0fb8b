import type { Logger } from 'pino';
import type { Rest } from '../../reply/overflow.ts';
import { isLasting } from '../../slack/errors.ts';
import type { Uploads } from '../../slack/uploads.ts';
import type { SlackFiles } from '../../store/slack-files.ts';
import type { SlackFileRow, Turn } from '../../store/tables.ts';
import type { Lease } from '../lease.ts';
import { slackOverMs, untilOver } from '../settling.ts';

type RestTurn = Pick<Turn, 'id' | 'workspace' | 'channel' | 'root'>;

/** Who shares files, and who remembers them. */
interface RestParts {
  slackFiles: Pick<SlackFiles, 'of' | 'begin' | 'place'>;
  uploads: Pick<Uploads, 'stage' | 'share' | 'whereabouts'>;
  log: Logger;
}

/**
 * Attaches the rest of a turn's answer (or of what `part` names) to its thread, once: Slack's id of the file is recorded before anybody can see
 * it, and after an unknown outcome Slack is asked for it. False where Slack takes no file of ours. Throws a
 * SlackError where that may pass.
 */
export async function shareRest(
  { slackFiles, uploads, log }: RestParts,
  turn: RestTurn,
  rest: Rest,
  lease: Lease,
  part = 'rest',
): Promise<boolean> {
  const before = (await slackFiles.of(turn)).get(part);
  if (before?.state === 'shared') return true;
  try {
    if (before === undefined || !(await isThere(uploads, before, turn.channel, lease))) {
      const bytes = Buffer.from(rest.content, 'utf8');
      const { fileId } = await uploads.stage({
        name: rest.name,
        sizeBytes: bytes.length,
        bytes: inOne(bytes),
        onId: (id) => slackFiles.begin(turn, part, id),
        guard: lease,
      });
      // Its time counts from here: the bytes may have taken long.
      await slackFiles.place(turn, [part], 'sharing');
      const { channel, root: threadTs } = turn;
      await uploads.share({ channel, threadTs, files: [{ id: fileId, title: rest.title }], guard: lease });
    }
  } catch (error) {
    if (!isLasting(error)) throw error;
    log.error({ err: error, turn: turn.id }, 'the rest of an answer cannot be attached');
    return false;
  }
  await slackFiles.place(turn, [part], 'shared');
  return true;
}

/** What came of an upload whose outcome is unknown. */
async function isThere(
  uploads: RestParts['uploads'],
  file: SlackFileRow,
  channel: string,
  lease: Lease,
): Promise<boolean> {
  await untilOver(file.intended_at, slackOverMs, lease);
  return (await uploads.whereabouts(file.slack_file, channel, lease)) !== 'absent';
}

async function* inOne(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
