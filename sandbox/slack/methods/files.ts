import { z } from 'zod';
import { checkBlocks } from '../block-validation.ts';
import type { Block, Fields, SlackFile, Team } from '../model.ts';
import { fileJson } from '../slack-objects.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { count, json, type Method, maybe, method, text, type WorkspaceDeps } from '../web-api-method.ts';
import { checkThread, isDeletedThread, writableChannel } from './chat.ts';

const listedFiles = z.array(z.looseObject({ id: z.string(), title: z.string().optional() })).min(1);

/** The methods for file objects and uploads. */
export function fileMethods(deps: WorkspaceDeps): Record<string, Method> {
  const { world, files } = deps;

  return {
    'files.info': method(
      { tier: 'tier4', scopes: ['files:read'] },
      z.looseObject({ file: text }),
      (args, team) => {
        const file = ownFile(deps, team, args.file);
        if (file.isDeleted) throw new SlackRefusal('file_deleted');
        return { file: fileJson(world, file, false), comments: [], response_metadata: { next_cursor: '' } };
      },
    ),

    'files.delete': method(
      { tier: 'tier3', scopes: ['files:write'] },
      z.looseObject({ file: text }),
      (args, team) => {
        const file = ownFile(deps, team, args.file);
        if (file.user !== team.bot.userId) throw new SlackRefusal('cant_delete_file');
        file.isDeleted = true;
        file.kind = 'tombstone';
        return {};
      },
    ),

    'files.getUploadURLExternal': method(
      { tier: 'tier4', scopes: ['files:write'] },
      z.looseObject({ filename: text, length: count, snippet_type: maybe, alt_txt: maybe }),
      (args, team) => {
        if (args.length < 1)
          throw new SlackRefusal('invalid_arguments', {
            response_metadata: { messages: ['[ERROR] must be greater than 0 [json-pointer:/length]'] },
          });
        if ((args.alt_txt?.length ?? 0) > 1000) throw new SlackRefusal('alt_txt_too_large');
        const { url, fileId } = files.startUpload(team, args.filename, args.length);
        return { upload_url: url, file_id: fileId };
      },
    ),

    'files.completeUploadExternal': method(
      { tier: 'tier4', scopes: ['files:write'] },
      z.looseObject({
        files: json.pipe(listedFiles),
        channel_id: maybe,
        thread_ts: maybe,
        initial_comment: maybe,
        blocks: json,
      }),
      (args, team) => {
        const { channel_id: channelId, initial_comment: comment } = args;
        if (comment !== undefined && args.blocks !== undefined) throw new SlackRefusal('invalid_arguments');
        const blocks = args.blocks === undefined ? undefined : checkBlocks(args.blocks, 'message');
        const channel = channelId === undefined ? undefined : writableChannel(deps, team, channelId);
        if (channel !== undefined && !channel.members.has(team.bot.userId))
          throw new SlackRefusal('not_in_channel');
        const isGone = channel !== undefined && isDeletedThread(channel, args.thread_ts);
        const threadTs = isGone ? undefined : args.thread_ts;
        if (channel !== undefined && threadTs !== undefined) checkThread(channel, threadTs);
        const done = args.files.map(({ id, title }) => complete(deps, team, id, title));
        if (channel === undefined) for (const file of done) process(deps, file);
        else share(deps, team, channel.id, done, { text: comment ?? '', blocks, threadTs });
        return {
          files: done.map((file) => ({ ...fileJson(world, file, false), id: file.id, title: file.title })),
        };
      },
    ),
  };
}

function ownFile(deps: WorkspaceDeps, team: Team, id: string): SlackFile {
  const file = deps.world.files.get(id);
  if (file === undefined || file.teamId !== team.id) throw new SlackRefusal('file_not_found');
  return file;
}

function complete(deps: WorkspaceDeps, team: Team, id: string, title: string | undefined): SlackFile {
  const upload = deps.files.finishUpload(team, id);
  if (upload === undefined) throw new SlackRefusal('file_not_found');
  const named = { name: upload.name, title: title ?? upload.name, mime: mimeOf(upload.name) };
  return deps.world.addFile(team, team.bot.userId, named, { path: upload.path }, id);
}

/** Makes out after a delay what a file is, as Slack does with one that is shown nowhere; of some it never does. */
function process(deps: WorkspaceDeps, file: SlackFile): void {
  file.readyAt = Number.POSITIVE_INFINITY;
  deps.deliveries.track(async () => {
    await deps.deliveries.wait(deps.settings.shareDelayMs);
    if (deps.settings.unshownFiles?.test(file.name ?? '') !== true) file.readyAt = deps.world.clock.now();
  });
}

/** Posts the message with the files after a delay, as Slack does after its malware scan; some never appear. */
function share(
  deps: WorkspaceDeps,
  team: Team,
  channelId: string,
  files: SlackFile[],
  said: { text: string; blocks: Block[] | undefined; threadTs: string | undefined },
): void {
  deps.deliveries.track(async () => {
    await deps.deliveries.wait(deps.settings.shareDelayMs);
    const channel = team.channels.get(channelId);
    const { unshownFiles } = deps.settings;
    const shown = files.filter(({ name, isDeleted }) => !isDeleted && !unshownFiles?.test(name ?? ''));
    if (channel === undefined || shown.length === 0) return;
    const fileIds = shown.map((file) => file.id);
    deps.messages.post(channel, { user: team.bot.userId, subtype: 'file_share', fileIds, ...said });
  });
}

const MIMES: Fields = {
  csv: 'text/csv',
  json: 'application/json',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  txt: 'text/plain',
  zip: 'application/zip',
};

function mimeOf(name: string): string {
  const known = MIMES[name.split('.').at(-1)?.toLowerCase() ?? ''];
  return typeof known === 'string' ? known : 'application/octet-stream';
}
