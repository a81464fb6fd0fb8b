import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { AccountHome, Visitor } from '../relay/accounts/account-home.ts';
import { accountFields, accountIds } from '../reply/views/account-view.ts';

const who = {
  team: z.looseObject({ id: z.string() }).nullish(),
  user: z.looseObject({ id: z.string(), team_id: z.string().optional() }),
};
const pressShape = z.looseObject({ ...who, trigger_id: z.string() });

const typed = z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.string().nullish() })));
const formShape = z.looseObject({
  ...who,
  view: z.looseObject({
    id: z.string(),
    app_installed_team_id: z.string().nullish(),
    state: z.looseObject({ values: typed }),
  }),
});

/** Takes the presses and the form by which admins set their workspace's account. */
export function listenToAccounts(app: App, home: AccountHome, log: Logger): void {
  // Not awaited: over HTTP the answer to Slack goes out when the listener is done.
  const go = (work: Promise<void>) =>
    void work.catch((error: unknown) => log.warn({ err: error }, 'an account could not be shown'));

  app.action(accountIds.set, async ({ ack, body }) => {
    const press = pressShape.safeParse(body).data;
    await ack();
    const visitor = press && visitorOf(press);
    if (press !== undefined && visitor !== undefined) go(home.open(visitor, press.trigger_id));
  });

  app.action(accountIds.remove, async ({ ack, body }) => {
    const press = pressShape.safeParse(body).data;
    await ack();
    const visitor = press && visitorOf(press);
    if (visitor !== undefined) go(home.remove(visitor));
  });

  app.view({ type: 'view_submission', callback_id: accountIds.form }, async ({ ack, body }) => {
    const form = formShape.safeParse(body).data;
    const visitor = form && visitorOf({ ...form, installed: form.view.app_installed_team_id });
    if (form === undefined || visitor === undefined) {
      await ack();
      return;
    }
    const { values } = form.view.state;
    const credentials = {
      baseUrl: inputOf(values, accountFields.address),
      apiKey: inputOf(values, accountFields.key),
    };
    await ack({ response_action: 'update', view: home.trying() });
    go(home.set(visitor, form.view.id, credentials));
  });
}

function visitorOf(press: {
  team?: { id: string } | null | undefined;
  user: { id: string; team_id?: string | undefined };
  installed?: string | null | undefined;
}): Visitor | undefined {
  const workspace = press.installed ?? press.team?.id ?? press.user.team_id;
  return workspace === undefined ? undefined : { workspace, person: press.user.id };
}

function inputOf(values: z.output<typeof typed>, id: string): string {
  return values[id]?.[id]?.value ?? '';
}
