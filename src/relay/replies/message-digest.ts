import { createHash } from 'node:crypto';
import type { SlackMessage } from '../../slack/slack-message.ts';

/** Identifies what a message shows, so that an edit that changes nothing is not sent. */
export function messageDigest(message: SlackMessage): string {
  const known = digestCache.get(message);
  if (known !== undefined) return known;
  const { text, blocks } = message;
  const digest = textDigest(JSON.stringify({ text, blocks }));
  digestCache.set(message, digest);
  return digest;
}

const digestCache = new WeakMap<SlackMessage, string>();

/** The SHA-256 of a text. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
