import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { startSlackWorkspace } from '../../../sandbox/slack/slack-workspace.ts';
import { manifestVariant } from '../../../setup/manifest-file.ts';

let now = Date.UTC(2026, 0, 1);
const slack = await startSlackWorkspace({ appExists: false, limits: 'off', clock: { now: () => now } });
afterAll(() => slack.stop());
const answerSchema = z.looseObject({ ok: z.boolean() });

async function call(method: string, args: Record<string, string>, token = slack.app.configuration.token) {
  const response = await fetch(`${slack.apiUrl}${method}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: new URLSearchParams(args),
  });
  return answerSchema.parse(await response.json());
}
const manifest = JSON.stringify(manifestVariant({}));
const { appId } = slack.app;

describe('an app of this Slack', () => {
  test('works from its creation, once it is installed, until it is deleted', async () => {
    expect(await call('auth.test', {}, slack.botToken)).toMatchObject({ error: 'account_inactive' });
    expect(await call('apps.connections.open', {}, slack.appToken)).toMatchObject({ error: 'invalid_auth' });
    expect(await call('apps.manifest.export', { app_id: appId })).toMatchObject({ error: 'app_not_found' });
    expect(await call('apps.manifest.create', { manifest })).toMatchObject({
      ok: true,
      app_id: appId,
      credentials: { signing_secret: slack.signingSecret, client_id: slack.clientId },
    });
    expect(await call('apps.manifest.create', { manifest })).toMatchObject({
      error: 'managed_app_limit_reached',
    });
    expect(await call('apps.manifest.export', { app_id: appId })).toMatchObject({
      manifest: JSON.parse(manifest),
    });
    const token = slack.installApp();
    expect(await call('auth.test', {}, token)).toMatchObject({ ok: true, app_id: appId });
    expect(await call('apps.connections.open', {}, slack.appToken)).toMatchObject({ ok: true });

    const smaller = manifestVariant({});
    smaller.oauth_config.scopes.bot.pop();
    const args = { app_id: appId, manifest: JSON.stringify(smaller) };
    expect(await call('apps.manifest.update', args)).toMatchObject({ permissions_updated: true });
    expect(await call('apps.manifest.update', args)).toMatchObject({ permissions_updated: false });
    expect(await call('apps.manifest.delete', { app_id: appId })).toMatchObject({ ok: true });
    expect(await call('auth.test', {}, token)).toMatchObject({ error: 'account_inactive' });
  });

  test('has only a manifest that Slack accepts', async () => {
    const validate = (value: unknown) =>
      call('apps.manifest.validate', { manifest: typeof value === 'string' ? value : JSON.stringify(value) });
    expect(await validate(manifest)).toMatchObject({ ok: true, errors: [] });
    const bad = { ...manifestVariant({}), outgoing_domains: [] };
    expect(await validate(bad)).toMatchObject({ error: 'invalid_manifest' });
    const { settings, ...others } = manifestVariant({});
    expect(
      await validate({ ...others, settings: { ...settings, socket_mode_enabled: false } }),
    ).toMatchObject({
      error: 'invalid_manifest',
      errors: expect.arrayContaining([
        expect.objectContaining({ pointer: '/settings/event_subscriptions/request_url' }),
      ]),
    });
    const plain = manifestVariant({ publicUrl: 'http://bot.example.org' });
    expect(await validate(plain)).toMatchObject({
      errors: expect.arrayContaining([expect.objectContaining({ message: 'URLs must use https' })]),
    });
    expect(await validate('{')).toMatchObject({ error: 'invalid_manifest' });
  });

  test('is changed only with a configuration token that lives; its refresh token works once', async () => {
    const { token, refreshToken } = slack.app.configuration;
    expect(await call('apps.manifest.validate', { manifest }, slack.botToken)).toMatchObject({
      error: 'not_allowed_token_type',
    });
    expect(await call('apps.manifest.validate', { manifest }, 'xoxe.xoxp-1-other')).toMatchObject({
      error: 'invalid_auth',
    });
    now += 13 * 3_600_000;
    expect(await call('apps.manifest.validate', { manifest }, token)).toMatchObject({
      error: 'token_expired',
    });
    const rotated = await call('tooling.tokens.rotate', { refresh_token: refreshToken }, '');
    expect(rotated).toMatchObject({ ok: true, token: slack.app.configuration.token });
    expect(await call('tooling.tokens.rotate', { refresh_token: refreshToken }, '')).toMatchObject({
      error: 'invalid_refresh_token',
    });
    expect(await call('apps.manifest.validate', { manifest })).toMatchObject({ ok: true });
    expect(slack.calls.some(({ args }) => JSON.stringify(args).includes(refreshToken))).toBe(false);
  });

  test('takes a square PNG of 512 to 2,000 pixels as its icon', async () => {
    await call('apps.manifest.create', { manifest });
    const set = async (bytes: Uint8Array<ArrayBuffer>) => {
      const form = new FormData();
      form.set('app_id', appId);
      form.set('file', new Blob([bytes]), 'icon.png');
      const headers = { authorization: `Bearer ${slack.app.configuration.token}` };
      const response = await fetch(`${slack.apiUrl}apps.icon.set`, { method: 'POST', headers, body: form });
      return answerSchema.parse(await response.json());
    };
    const png = (width: number, height: number) => {
      const header = Buffer.alloc(32);
      header.write('\u0089PNG', 'latin1');
      header.writeUInt32BE(width, 16);
      header.writeUInt32BE(height, 20);
      return new Uint8Array(header);
    };
    expect(await set(new Uint8Array(Buffer.from('GIF89a of some length, but no PNG')))).toMatchObject({
      error: 'error_bad_format',
    });
    expect(await set(png(256, 256))).toMatchObject({ error: 'invalid_icon_size' });
    expect(await set(png(600, 512))).toMatchObject({ error: 'invalid_icon_size' });
    expect(await set(png(512, 512))).toMatchObject({ ok: true });
    expect(slack.app.icon).toEqual({ width: 512, height: 512 });
  });
});
