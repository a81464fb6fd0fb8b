import { expect, test } from 'vitest';
import { freshDatabase } from '../support/fresh-database.ts';
import { rowTypes } from '../support/row-types.ts';

const { kysely } = await freshDatabase();

test('the types of rows are those of the migrated tables', async () => {
  await expect(await rowTypes(kysely)).toMatchFileSnapshot('../../src/store/tables.ts');
});
