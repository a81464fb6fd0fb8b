import { z } from 'zod';
import type { Modal } from '../../render/blocks/modal.ts';
import type { ButtonId, RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import type { ShownMessage } from '../../render/messages/button-notes.ts';
import type { buttons } from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { Turns } from '../../store/threads/turns.ts';

/** A person uses a control on a turn. */
export interface ControlRequest extends WorkspaceActor {
  /** The channel of the control, as Slack says; undefined in a modal. */
  channel: string | undefined;
  turnId: string;
}

/** The turn that a control names; undefined if it is of another channel: no message of ours has such a button. */
export async function turnOf(
  { turns }: { turns: Pick<Turns, 'get'> },
  { workspace, channel, turnId }: Pick<ControlRequest, 'workspace' | 'channel' | 'turnId'>,
): Promise<Turn | undefined> {
  const turn = await turns.get(workspace, turnId);
  return channel === undefined || turn?.channel === channel ? turn : undefined;
}

/**
 * What a control did. `over`: the turn has ended, or this was done before; `unknown`: no such turn; `stopping`:
 * a stop was requested before; `refused`: the person has no permission, and was told.
 */
export type ControlOutcome = 'done' | 'over' | 'unknown' | 'stopping' | 'refused';

/** What a press did, and what the person reads if the outcome alone does not say it. `late`: they may press again. */
export interface PressAnswer {
  outcome: ControlOutcome | 'late';
  /** Only the person sees it; in place of a note that only they see, if the button stands below one. */
  told?: string | undefined;
  /** What takes the place of `told` once it is known, which may take minutes; undefined: `told` stays. */
  later?: () => Promise<RenderedMessage | undefined>;
  /** Takes the place of the message that has the button; a promise where that need not be known when Slack is answered. */
  replacement?: RenderedMessage | Promise<RenderedMessage>;
}

/** What a stop trigger did. `nothing`: nothing runs; `withdrawn`: the message had not been sent. */
export type StopOutcome = ControlOutcome | 'nothing' | 'withdrawn' | 'ignored';

/** A press of any button, or a choice from a list, as Slack tells it. */
export interface ButtonPress extends WorkspaceActor {
  /** Undefined in a modal or the Home tab, as are the thread and the message. */
  channel: string | undefined;
  /** The thread; undefined below what only one person sees in the channel. */
  threadTs: string | undefined;
  /** The message that the button stands below, and what it shows, as far as Slack says it. */
  messageTs: string | undefined;
  /** Only the person who pressed sees the message. */
  isPrivate: boolean;
  message: ShownMessage | undefined;
  /** Opens a modal; expires after 3 s. */
  triggerId: string;
  /** When it was pressed: Slack's action_ts, which is the ts of a message that the press stands for. */
  ts: string;
  /** Of the button, or of the chosen item of a menu; '' if it has none. */
  value: string;
  /** The end of the value, if it is the id of a turn. */
  turnId: string | undefined;
  selectedChannel: string | undefined;
  /** The modal or Home tab; undefined in a message. */
  view: PressedView | undefined;
}

interface PressedView {
  id: string;
  metadata: string;
  hash: string | undefined;
}

/** A press of a button about a turn. */
export interface TurnPress extends ButtonPress {
  channel: string;
  turnId: string;
}

/** A press of a button about a message. */
export interface MessagePress extends ButtonPress {
  channel: string;
  messageTs: string;
}

/** A press in the Home tab or in a modal. */
export interface ViewPress extends ButtonPress {
  view: PressedView;
}

/** What the handler of a button gets, by what its press is about. */
interface PressesAbout {
  control: TurnPress;
  turn: TurnPress;
  message: MessagePress;
  view: ViewPress;
  form: ButtonPress;
}

type About<Id extends ButtonId> = (typeof buttons)[Id]['about'];

/** The buttons that somebody handles. */
export type PressedId = { [Id in ButtonId]: About<Id> extends keyof PressesAbout ? Id : never }[ButtonId];

/** A method, so that all handlers are of one type to the code that calls them, which looks at what a press is about. */
interface Handler<Given> {
  // biome-ignore lint/suspicious/noConfusingVoidType: many handlers return nothing.
  handle(press: Given): Promise<PressAnswer['outcome'] | PressAnswer | void>;
}

/** What handles a press, to the code that makes sure that the press has what the button's handler needs. */
export type ButtonHandler = Handler<ButtonPress>['handle'];

/** What handles a press of each of these buttons. */
export type ButtonHandlers<Id extends PressedId = PressedId> = {
  readonly [One in Id]: Handler<PressesAbout[Extract<About<One>, keyof PressesAbout>]>['handle'];
};

/** A submitted form. */
export interface FormSubmission extends WorkspaceActor {
  viewId: string;
  metadata: string;
  /** What was put into the input of this id; undefined if the form had none. */
  input: (id: string) => z.output<typeof inputStateSchema> | undefined;
  /** The first input, where Slack can show an error about the whole form. */
  firstInput: string;
}

/** The option of a list that was chosen. */
const optionSchema = z.looseObject({ value: z.string() });

/** The input of a form; an empty field is null. */
export const inputStateSchema = z.looseObject({
  value: z.string().nullish(),
  selected_option: optionSchema.nullish(),
  selected_options: z.array(optionSchema).nullish(),
  selected_conversation: z.string().nullish(),
  selected_conversations: z.array(z.string()).nullish(),
  files: z.array(z.unknown()).nullish(),
});

/** What follows a form: errors below its inputs, by their ids, or another view, after which work may follow; else it closes. */
export type FormAnswer =
  | { errors: Readonly<Record<string, string>> }
  | { view: Modal; afterwards?: () => Promise<unknown> }
  | undefined;

/** What handles each form, by its callback id. */
export type FormHandlers = Readonly<Record<string, (form: FormSubmission) => Promise<FormAnswer>>>;

/** A person who acts in a workspace. */
export interface WorkspaceActor {
  workspace: string;
  person: string;
}

/** A person who acts in a channel, or asks about it. */
export interface ChannelActor extends WorkspaceActor {
  channel: string;
}
