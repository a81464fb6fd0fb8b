import type { Channel, Fields, Message, Person, SlackFile, Team } from './model.ts';
import type { World } from './world.ts';

/** The author's fields: a person, another bot or our own bot. */
function authorJson(team: Team, message: Message): Fields {
  if (message.botId === undefined) return { user: message.user };
  const name = team.people.get(message.user)?.name ?? '';
  // Messages of workflows name no user.
  if (message.subtype === 'bot_message')
    return { bot_id: message.botId, app_id: message.appId, username: name };
  // An app that posts with a person's token has a user of its own, too.
  const isPersons = (team.people.get(message.user)?.kind ?? 'bot') !== 'bot';
  const user_id = isPersons ? `U${message.botId.slice(1)}` : message.user;
  const profile = { id: message.botId, app_id: message.appId, user_id, name, team_id: team.id };
  return { user: message.user, bot_id: message.botId, app_id: message.appId, bot_profile: profile };
}

/** A message object; `pushed` for events, where Slack Connect files are stubs. JSON leaves out what is undefined. */
export function messageJson(world: World, channel: Channel, message: Message, pushed: boolean): Fields {
  const team = world.team(channel.teamId);
  const root = message.threadTs === undefined ? undefined : channel.messages.get(message.threadTs);
  const replies = channel.threads.get(message.ts) ?? [];
  const home = team.people.get(message.user)?.homeTeamId ?? team.id;
  return {
    ...authorJson(team, message),
    type: 'message',
    ts: message.ts,
    subtype: message.subtype,
    client_msg_id: message.botId === undefined ? message.clientMsgId : undefined,
    text: message.text,
    team: home,
    ...(home === team.id ? {} : { user_team: home, source_team: home }),
    blocks: message.blocks,
    attachments: message.attachments,
    ...filesJson(world, message, pushed),
    edited: message.edited,
    ...threadJson(message, root, replies),
    ...reactionsJson(message),
    ...message.odd,
  };
}

/** The address of a message, as **Copy link** gives it. */
export function permalinkOf(team: Team, { channel, ts, threadTs }: Message): string {
  const thread = threadTs === undefined ? '' : `?thread_ts=${threadTs}&cid=${channel}`;
  return `https://${team.domain}.slack.com/archives/${channel}/p${ts.replace('.', '')}${thread}`;
}

/** What stands in place of a deleted root that has replies. */
export function tombstoneJson(message: Fields): Fields {
  return { ...message, subtype: 'tombstone', text: 'This message was deleted.', user: 'USLACKBOT' };
}

function filesJson(world: World, message: Message, pushed: boolean): Fields {
  if (message.fileIds.length === 0) return {};
  const files = message.fileIds.map((id) => world.files.get(id)).filter((file) => file !== undefined);
  return { files: files.map((file) => fileJson(world, file, pushed)), upload: false };
}

function threadJson(message: Message, root: Message | undefined, replies: string[]): Fields {
  if (message.threadTs !== undefined) {
    return { thread_ts: message.threadTs, parent_user_id: root?.user };
  }
  if (replies.length === 0) return {};
  return {
    thread_ts: message.ts,
    reply_count: replies.length,
    latest_reply: replies.at(-1),
  };
}

function reactionsJson(message: Message): Fields {
  if (message.reactions.size === 0) return {};
  const reactions = [...message.reactions].map(([name, users]) => ({ name, users, count: users.length }));
  return { reactions };
}

/** A file object; `pushed` for events, where some files are stubs. */
export function fileJson(world: World, file: SlackFile, pushed: boolean): Fields {
  if (file.kind === 'tombstone') return { id: file.id, mode: 'tombstone' };
  if (file.kind === 'hidden_by_limit') return { id: file.id, mode: 'hidden_by_limit', date_delete: 0 };
  if (file.kind === 'connect_stub' && pushed) {
    return { id: file.id, mode: 'file_access', file_access: 'check_file_info' };
  }
  const extension = file.name?.split('.').at(-1) ?? '';
  const ready = file.readyAt <= world.clock.now();
  return {
    id: file.id,
    created: Math.floor(file.created / 1000),
    timestamp: Math.floor(file.created / 1000),
    name: file.name,
    title: file.title,
    mimetype: ready || file.kind === 'processing' ? file.mime : '',
    filetype: SPECIAL_FILE_TYPES[file.kind] ?? extension,
    user: file.user,
    size: announcedSize(file),
    mode: modeOf(file.kind),
    is_external: file.kind === 'external',
    external_type: file.kind === 'external' ? 'gdrive' : '',
    file_access: 'visible',
    ...wordsJson(file),
    ...(ready ? urlsJson(world, file) : {}),
    ...(pushed ? {} : sharesJson(world, file)),
  };
}

function announcedSize({ kind, content: { size } }: SlackFile): number {
  if (kind === 'uncounted') return 0;
  return kind === 'lying_size' || kind === 'canvas' || kind === 'email' ? size + 7 : size;
}

/** What Slack knows of the words of a file: an e-mail's, or those that are spoken in a clip. */
function wordsJson({ email, transcript, content }: SlackFile): Fields {
  const preview = { content: transcript, has_more: false };
  const clip = { subtype: 'slack_audio', transcription: { status: 'complete', locale: 'en-US', preview } };
  if (email === undefined) return transcript === undefined ? {} : clip;
  const { subject, from, to, cc = [], date, attachments = [] } = email;
  const addresses = (list: string[]) =>
    list.map((original) => {
      const [, name = '', address = original] = /^(.*?) *<(.*)>$/.exec(original) ?? [];
      return { address, name, original };
    });
  return {
    subject,
    from: addresses([from]),
    to: addresses(to),
    cc: addresses(cc),
    attachments: attachments.map((filename) => ({ filename })),
    original_attachment_count: attachments.length,
    plain_text: content.text?.() ?? '',
    headers: { date, in_reply_to: null, reply_to: null, message_id: `<${subject.length}@mail.example>` },
  };
}

/** The file types of kinds that Slack stores like files. */
const SPECIAL_FILE_TYPES: Partial<Record<SlackFile['kind'], string>> = {
  canvas: 'quip',
  email: 'email',
  list: 'list',
  post: 'post',
};

/** The modes of kinds whose name is another one. */
const MODES: Partial<Record<SlackFile['kind'], string>> = { canvas: 'quip', new_mode: 'whiteboard' };
const NAMED_MODES = new Set(['external', 'snippet', 'list', 'post', 'email']);

function modeOf(kind: SlackFile['kind']): string {
  return MODES[kind] ?? (NAMED_MODES.has(kind) ? kind : 'hosted');
}

function urlsJson(world: World, file: SlackFile): Fields {
  const name = encodeURIComponent((file.name ?? 'untitled').toLowerCase().replaceAll(/\s+/g, '_'));
  const permalink = `${world.baseUrl}/files/${file.user}/${file.id}/${name}`;
  if (file.kind === 'external')
    return { url_private: `https://drive.example.com/file/${file.id}`, permalink };
  const base = `${world.baseUrl}/files-pri/${file.teamId}-${file.id}`;
  return { url_private: `${base}/${name}`, url_private_download: `${base}/download/${name}`, permalink };
}

function sharesJson(world: World, file: SlackFile): Fields {
  const shares: { public: Record<string, Fields[]>; private: Record<string, Fields[]> } = {
    public: {},
    private: {},
  };
  const ids: Record<'channels' | 'groups' | 'ims', string[]> = { channels: [], groups: [], ims: [] };
  for (const share of file.shares) {
    const channel = world.team(file.teamId).channels.get(share.channel);
    if (channel === undefined) continue;
    const side = channel.kind === 'channel' ? shares.public : shares.private;
    const entry = { ts: share.ts, thread_ts: share.threadTs };
    side[share.channel] = [...(side[share.channel] ?? []), entry];
    ids[channel.kind === 'channel' ? 'channels' : channel.kind === 'im' ? 'ims' : 'groups'].push(
      share.channel,
    );
  }
  return { shares, ...ids };
}

/** A conversation object. */
export function channelJson(channel: Channel, botUserId: string): Fields {
  const common = {
    id: channel.id,
    created: channel.created,
    is_archived: channel.archived,
    is_im: channel.kind === 'im',
    is_mpim: channel.kind === 'mpim',
    context_team_id: channel.teamId,
    shared_team_ids: [channel.teamId, ...channel.connectedTeams],
  };
  if (channel.kind === 'im') {
    const user = [...channel.members].find((id) => id !== botUserId) ?? botUserId;
    return { ...common, user, is_open: true };
  }
  const value = (text: string) => ({ value: text, creator: channel.creator, last_set: channel.created });
  return {
    ...common,
    name: channel.name,
    previous_names: channel.previousNames,
    is_private: channel.kind !== 'channel',
    is_ext_shared: channel.shared,
    is_member: channel.members.has(botUserId),
    creator: channel.creator,
    topic: value(channel.topic),
    purpose: value(channel.purpose),
  };
}

/** A user object. */
export function personJson(person: Person): Fields {
  const stranger = person.kind === 'stranger';
  return {
    id: person.id,
    team_id: person.homeTeamId,
    name: person.name,
    deleted: person.deleted,
    real_name: person.realName,
    profile: {
      real_name: person.realName,
      display_name: person.realName,
      team: person.homeTeamId,
      ...(person.botId === undefined ? {} : { bot_id: person.botId }),
    },
    is_bot: person.kind === 'bot',
    ...(person.organisation === undefined || stranger
      ? {}
      : {
          enterprise_user: {
            id: `W${person.id.slice(1)}`,
            enterprise_id: person.organisation,
            teams: [...new Set([person.teamId, person.homeTeamId])],
          },
        }),
    ...(stranger ? { is_stranger: true } : {}),
    ...(stranger || person.deleted
      ? {}
      : {
          is_admin: person.admin,
          is_owner: false,
          is_restricted: person.kind === 'guest',
          is_ultra_restricted: false,
        }),
  };
}
