import type { Logger } from 'pino';
import type { AnswerRest } from '../../render/splitting/overflow.ts';
import { isLastingRefusal } from '../../slack/errors.ts';
import type { FileUploads } from '../../slack/file-uploads.ts';
import type { SlackFiles } from '../../store/files/slack-files.ts';
import type { SlackFileRow, Turn } from '../../store/schema.ts';
import type { Lease } from '../runtime/lease.ts';
import { SLACK_CALL_LIFETIME_MS, waitUntilCallEnded } from '../runtime/unknown-outcome.ts';

type OverflowTurn = Pick<Turn, 'id' | 'workspace' | 'channel' | 'root'>;

/** Who shares files, and who remembers them. */
interface OverflowFileDeps {
  slackFiles: Pick<SlackFiles, 'ofTurn' | 'begin' | 'setState'>;
  uploads: Pick<FileUploads, 'stage' | 'share' | 'shareStatus'>;
  log: Logger;
}

/**
 * Attaches the rest of a turn's answer (or of what `part` names) to its thread, once: Slack's id of the file is recorded before anybody can see
 * it, and after an unknown outcome Slack is asked for it. False where Slack takes no file of ours. Throws a
 * SlackError where that may pass.
 */
export async function attachOverflow(
  { slackFiles, uploads, log }: OverflowFileDeps,
  turn: OverflowTurn,
  overflow: AnswerRest,
  lease: Lease,
  part = 'rest',
): Promise<boolean> {
  const existing = (await slackFiles.ofTurn(turn)).get(part);
  if (existing?.state === 'shared') return true;
  try {
    if (existing === undefined || !(await wasShared(uploads, existing, turn.channel, lease))) {
      const bytes = Buffer.from(overflow.content, 'utf8');
      const { fileId } = await uploads.stage({
        name: overflow.name,
        sizeBytes: bytes.length,
        content: singleChunk(bytes),
        onFileId: (id) => slackFiles.begin(turn, part, id),
        guard: lease,
      });
      // Its time counts from here: the bytes may have taken long.
      await slackFiles.setState(turn, [part], 'sharing');
      const { channel, root: threadTs } = turn;
      await uploads.share({
        channel,
        threadTs,
        files: [{ id: fileId, title: overflow.title }],
        guard: lease,
      });
    }
  } catch (error) {
    if (!isLastingRefusal(error)) throw error;
    log.error({ err: error, turn: turn.id }, 'the rest of an answer cannot be attached');
    return false;
  }
  await slackFiles.setState(turn, [part], 'shared');
  return true;
}

/** What came of an upload whose outcome is unknown. */
async function wasShared(
  uploads: OverflowFileDeps['uploads'],
  file: SlackFileRow,
  channel: string,
  lease: Lease,
): Promise<boolean> {
  await waitUntilCallEnded(file.intended_at, SLACK_CALL_LIFETIME_MS, lease);
  return (await uploads.shareStatus(file.slack_file, channel, lease)) !== 'absent';
}

async function* singleChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
