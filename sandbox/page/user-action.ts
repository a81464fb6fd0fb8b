import { z } from 'zod';

const person = z.string();
const place = { person, channel: z.string(), ts: z.string() };
const values = z.record(z.string(), z.union([z.string(), z.array(z.string())]));

/** The actions of people on the page. */
export const userActionSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('say'),
    person,
    channel: z.string(),
    text: z.string(),
    thread: z.string().exactOptional(),
    broadcast: z.boolean().exactOptional(),
    /** Keys of uploads. */
    files: z.array(z.string()).default([]),
    /** A pasted table: rows of cells. */
    table: z.array(z.array(z.string())).exactOptional(),
    /** The message that it forwards. */
    forwards: z.object({ channel: z.string(), ts: z.string() }).exactOptional(),
  }),
  z.object({ kind: z.literal('edit'), ...place, text: z.string() }),
  z.object({ kind: z.literal('remove'), ...place }),
  z.object({ kind: z.literal('react'), ...place, name: z.string(), on: z.boolean() }),
  z.object({
    kind: z.literal('click'),
    person,
    channel: z.string().exactOptional(),
    ts: z.string().exactOptional(),
    view: z.enum(['home', 'modal']).exactOptional(),
    actionId: z.string(),
    value: z.string().exactOptional(),
    values: z.array(z.string()).exactOptional(),
    state: values.exactOptional(),
  }),
  z.object({
    kind: z.literal('command'),
    person,
    channel: z.string(),
    command: z.string(),
    text: z.string(),
  }),
  z.object({
    kind: z.literal('shortcut'),
    person,
    callbackId: z.string(),
    channel: z.string().exactOptional(),
    ts: z.string().exactOptional(),
  }),
  z.object({ kind: z.literal('submit'), person, values, files: values.default({}) }),
  z.object({ kind: z.literal('close'), person }),
  z.object({ kind: z.literal('open-app'), person, tab: z.enum(['home', 'messages']) }),
  z.object({ kind: z.literal('invite'), person, channel: z.string() }),
  z.object({ kind: z.literal('stop-session'), ...place }),
]);

/** An action as the page sends it. */
export type UserAction = z.input<typeof userActionSchema>;
export type ParsedUserAction = z.output<typeof userActionSchema>;
