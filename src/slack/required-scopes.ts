/** The bot token scopes that the app needs; manifest.yml requests the same. */
export const REQUIRED_SCOPES: readonly string[] = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:write',
  'mpim:history',
  'reactions:read',
  'reactions:write',
  'users:read',
];
