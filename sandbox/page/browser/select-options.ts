import type { ChannelModel, Fields } from '../page-protocol.ts';
import { isFields, objects, plain, text } from './json-fields.ts';
import { state } from './page-state.ts';

/** An option of a select. */
export interface Option {
  value: string;
  label: string;
  description?: string;
}

/** The options of a select or a similar element. */
export function optionsOf(one: Fields): Option[] {
  if (text(one.type).endsWith('conversations_select')) {
    return state.workspace.channels
      .filter((channel) => passes(channel, one.filter))
      .map(({ id, kind, name }) => ({
        value: id,
        label: kind === 'im' || kind === 'mpim' ? name : `#${name}`,
      }));
  }
  return objects(one.options).map((option) => ({
    value: text(option.value),
    label: plain(option.text),
    ...(option.description === undefined ? {} : { description: plain(option.description) }),
  }));
}

/** The names of channel kinds in the filter of a `conversations_select`. */
const FILTER_NAMES = { channel: 'public', group: 'private', im: 'im', mpim: 'mpim' } as const;

function passes({ kind, members }: ChannelModel, filter: unknown): boolean {
  if (!isFields(filter)) return true;
  const withBot = kind === 'im' && members.includes(state.workspace.bot);
  if (filter.exclude_bot_users === true && withBot) return false;
  return !Array.isArray(filter.include) || filter.include.includes(FILTER_NAMES[kind]);
}

/** The initially selected values. */
export function initials(one: Fields): string[] {
  const isCurrent = one.initial_conversation === undefined && one.default_to_current_conversation === true;
  const conversations = [isCurrent ? state.channel : one.initial_conversation, one.initial_conversations];
  const options = [one.initial_options, one.initial_option].flat().filter(isFields);
  const values = [...conversations.flat(), ...options.map(({ value }) => value)];
  return values.filter((value) => typeof value === 'string');
}
