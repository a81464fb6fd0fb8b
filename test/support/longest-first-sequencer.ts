import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** By their folders: what runs longest comes first, then what waits for clocks most of its time. */
const order = [/\/test\/sandbox\/chaos\//, /\/test\/(?:behaviour|sandbox)\//];

/** Begins with the long test files, so that those that only compute fill up the rest of the time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = order.findIndex((folder) => folder.test(moduleId));
      return at < 0 ? order.length : at;
    };
    return (await super.sort(files)).sort((one, other) => place(one) - place(other));
  }
}
