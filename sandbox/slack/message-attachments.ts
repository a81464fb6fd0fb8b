import type { Channel, Fields, Message } from './model.ts';
import { fileJson } from './slack-objects.ts';
import type { World } from './world.ts';

/** What Slack's client makes of a table that a person pastes into the composer. */
export function pastedTable(rows: readonly (readonly string[])[]): Fields {
  const cell = (text: string): Fields => ({
    type: 'rich_text',
    elements: [{ type: 'rich_text_section', elements: text === '' ? [] : [{ type: 'text', text }] }],
  });
  const table = { type: 'table', rows: rows.map((row) => row.map(cell)) };
  return { id: 1, blocks: [table], fallback: '[no preview available]' };
}

/** Slack's preview of a message that a text links to: it has no files. */
export function messagePreview(world: World, channel: Channel, message: Message): Fields {
  const { is_share: _, files: __, ...preview } = forwardedMessage(world, channel, message);
  return preview;
}

/** What Slack makes of a message that a person forwards. */
export function forwardedMessage(world: World, channel: Channel, message: Message): Fields {
  const { ts, user, text, blocks = [], attachments = [], fileIds } = message;
  const team = world.team(channel.teamId);
  const name = team.people.get(user)?.realName ?? team.bot.name;
  const files = fileIds.flatMap((id) => world.files.get(id) ?? []);
  const address = `https://${team.domain}.slack.com/archives/${channel.id}/p${ts.replace('.', '')}`;
  return {
    id: 1,
    ts,
    author_id: user,
    author_name: name,
    author_link: `https://${team.domain}.slack.com/team/${user}`,
    channel_id: channel.id,
    channel_team: channel.teamId,
    ...(channel.kind === 'channel' ? { channel_name: channel.name } : {}),
    is_msg_unfurl: true,
    is_share: true,
    message_blocks: [{ team: channel.teamId, channel: channel.id, ts, message: { blocks, attachments } }],
    ...(files.length === 0 ? {} : { files: files.map((file) => fileJson(world, file, true)) }),
    text,
    fallback: `${name}: ${text}`,
    from_url: address,
    footer: channel.kind === 'channel' ? `Posted in #${channel.name}` : 'Direct message',
    mrkdwn_in: ['text'],
  };
}
