import { type ActionsBlock, plainText, type SectionBlock, section } from '../slack-blocks.ts';
import * as words from '../words.ts';
import { botsInput, type FormOption, type FormView, input, option } from './inputs.ts';
import { modal, notice } from './modal.ts';
import type { HeaderBlock } from './view-blocks.ts';

/** The ids by which the press and the form come back. */
export const doorIds = { change: 'door_change', form: 'door_form' } as const;

type Admitting = Exclude<keyof typeof words.channelChoices.admits, 'usual'>;

/** Who may use the agent in a workspace; null and '': as the whole app's settings (`usual`) say. */
export interface ShownDoor {
  admits: Admitting | null;
  /** As people type them: ids between commas, or the word none. */
  bots: string;
  usual: { admits: Admitting; bots: string };
}

/** Its part of the Home tab, for admins. */
export function doorSection({
  admits,
  bots,
  usual,
}: ShownDoor): (HeaderBlock | SectionBlock | ActionsBlock)[] {
  const people = words.channelChoices.admits[admits ?? usual.admits][0];
  const said = words.doorSays({ people, own: admits !== null, bots: bots === '' ? usual.bots : bots });
  const change = { type: 'button', text: plainText(words.door.change), action_id: doorIds.change } as const;
  return [
    { type: 'header', text: plainText(words.door.heading) },
    section(said),
    { type: 'actions', elements: [change] },
  ];
}

/** The form that sets it. */
export function doorForm({ admits, bots, usual }: ShownDoor): FormView {
  const choices: [Admitting | 'usual', string][] = [
    ['usual', words.doorUsual(words.channelChoices.admits[usual.admits][0])],
    ['members', words.channelChoices.admits.members[0]],
    ['guests', words.channelChoices.admits.guests[0]],
    ['everyone', words.channelChoices.admits.everyone[0]],
  ];
  const options = choices.map(([value, text]): FormOption => option(value, text));
  const now = options.find(({ value }) => value === (admits ?? 'usual'));
  const first = now === undefined ? {} : { initial_option: now };
  const people = input(
    { type: 'static_select', action_id: 'door_admits', options, ...first },
    { label: words.door.admits, optional: false },
  );
  return {
    ...modal(words.door.title, [section(words.door.about), people, botsInput('door_bots', bots)]),
    callback_id: doorIds.form,
    submit: plainText(words.door.save),
  };
}

/** The modal with one sentence, in place of the form. */
export function doorNotice(sentence: string): FormView {
  return notice(words.door.title, sentence);
}
