import type { App } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { AccountHome } from '../relay/accounts/account-home.ts';
import { accountFields, accountIds } from '../reply/views/account-view.ts';
import { behindAnswer } from './press.ts';
import { readVisitorForm, readVisitorPress } from './visitors.ts';

const typed = z.record(z.string(), z.record(z.string(), z.looseObject({ value: z.string().nullish() })));
const stateShape = z.looseObject({ values: typed });

/** Takes the presses and the form by which admins set their workspace's account. */
export function listenToAccounts(app: App, home: AccountHome, log: Logger): void {
  const go = (work: Promise<unknown>) => behindAnswer(work, log, 'an account could not be shown');

  app.action(accountIds.set, async ({ ack, body }) => {
    await ack();
    const press = readVisitorPress(body);
    if (press !== undefined) go(home.open(press.visitor, press.triggerId));
  });

  app.action(accountIds.remove, async ({ ack, body }) => {
    await ack();
    const press = readVisitorPress(body);
    if (press !== undefined) go(home.remove(press.visitor));
  });

  app.view({ type: 'view_submission', callback_id: accountIds.form }, async ({ ack, body }) => {
    const form = readVisitorForm(body);
    const values = stateShape.safeParse(form?.state).data?.values;
    if (form === undefined || values === undefined) {
      await ack();
      return;
    }
    const credentials = {
      baseUrl: inputOf(values, accountFields.address),
      apiKey: inputOf(values, accountFields.key),
    };
    await ack({ response_action: 'update', view: home.trying() });
    go(home.set(form.visitor, form.viewId, credentials));
  });
}

function inputOf(values: z.output<typeof typed>, id: string): string {
  return values[id]?.[id]?.value ?? '';
}
