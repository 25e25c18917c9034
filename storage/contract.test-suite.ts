import { describe } from 'vitest';
import { commitContract } from './contract/commits.testkit.ts';
import type { OpenStore } from './contract/kit.ts';
import { logContract } from './contract/log.testkit.ts';
import { modelContract } from './contract/model.testkit.ts';
import { pastContract } from './contract/past.testkit.ts';
import { treeContract } from './contract/tree.testkit.ts';

/** Defines the tests that every implementation of the Store port must pass. `open` returns an empty store at each call. */
export function storeContract(name: string, open: OpenStore): void {
  describe(name, () => {
    commitContract(open);
    pastContract(open);
    logContract(open);
    treeContract(open);
    modelContract(open);
  });
}
