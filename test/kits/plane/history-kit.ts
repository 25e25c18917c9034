import { startSnapshots } from '../../../plane/snapshots.ts';
import { enrol } from './devices.ts';
import { buildKit, type KitOptions, person } from './kit.ts';

/** The kit with a workspace whose snapshots are taken, and short ways to make what they show. */
export async function buildHistoryKit(options: KitOptions = {}) {
  const kit = await buildKit(options);
  const workspace = await kit.workspace('prod', 20_000);
  const snapshots = startSnapshots(kit.services);
  const admin = person('admin', workspace);
  let keys = 0;

  return {
    ...kit,
    workspace,
    addWorkspace: kit.workspace,
    admin,

    /** Calls as an administrator of the workspace. */
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
    ask: (name: string, raw: Record<string, unknown> = {}): Promise<any> => kit.call(name, raw, { as: admin }),

    /** Enrols a device with labels; its id and device token. */
    async join(name: string, labels: Record<string, string> = {}): Promise<{ id: string; deviceToken: string }> {
      const { token } = await kit.call('generate_join_token', { name: `for ${name}`, labels }, { as: admin });
      // The same keys on every run: a page of the docs shows them.
      keys += 1;
      const publicKey = Buffer.from(String(keys).padStart(32, 'k')).toString('base64');
      return enrol(kit, token, name, { publicKey });
    },

    /** Lets time pass, in steps short enough for every debounce to end. */
    async pass(ms: number): Promise<void> {
      kit.clock.time += ms;
      await snapshots.settle();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await snapshots.stop();
      await kit[Symbol.asyncDispose]();
    },
  };
}
