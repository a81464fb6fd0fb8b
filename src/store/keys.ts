export {
  type MessageKey,
  type ProjectKey,
  type SlackTs,
  type ThreadKey,
  threadKeyText,
} from './schema.ts';
