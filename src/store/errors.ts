export { DatabaseError as StoreError } from '../postgres/errors.ts';
