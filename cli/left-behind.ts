import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { AGENT, INTERFACE } from '../client/agent/node-locks.ts';
import { leaseOf } from '../client/firewall/nftables.ts';
import { readRegular } from '../client/if-readable.ts';
import { RUN_DIRECTORY } from '../client/run-directory.ts';

/** What an agent that was killed has left of its node, for people; undefined where it left no tunnel. Linux only. */
export async function leftBehind(directory: string): Promise<string | undefined> {
  const name = interfaceOf(directory);
  if (name === undefined) return undefined;
  const states = {
    running: `Its agent was killed and left ${name}, which closes within a minute of that.`,
    ended: `Its agent was killed and left ${name}, which is closed by now: nothing passes it.`,
    gone: `Its agent was killed and left ${name}, whose firewall something else removed.`,
  };
  return states[await leaseOf(name)];
}

/** Where the process that last held the directory was also the last to hold an interface that is still there. */
function interfaceOf(directory: string): string | undefined {
  try {
    const pid = readRegular(path.join(directory, AGENT.pidFile));
    const wasHeld = (name: string) => {
      const pidFile = path.join(RUN_DIRECTORY, name, INTERFACE.pidFile);
      return existsSync(pidFile) && readFileSync(pidFile, 'utf8') === pid;
    };
    return readdirSync(RUN_DIRECTORY).find((name) => existsSync(`/sys/class/net/${name}`) && wasHeld(name));
  } catch {
    // No node was up here, or it is not this user's to know.
    return undefined;
  }
}
