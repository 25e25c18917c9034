import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { NodeRefusal, type SandboxLimits } from '../agent/launch.ts';

/** A control group for one sandbox. */
export interface LimitedGroup {
  /** Puts a process in, with all that it starts. */
  add(pid: number): void;
  /** Once its processes have ended. */
  remove(): void;
}

const MOUNT = '/sys/fs/cgroup';
const PREFIX = 'mesh-sandbox-';

type Controller = 'memory' | 'pids';

/** Where groups for a controller are made, and the names of its files. */
export interface Hierarchy {
  readonly parent: string;
  readonly file: string;
}

/**
 * Returns the place for a controller, of either version of control groups: below the group of this process in the first, beside it in the
 * second, where no group has both processes and groups with limits.
 *
 * @param groups /proc/self/cgroup
 */
export function hierarchyOf(controller: Controller, groups: string, isThere = existsSync): Hierarchy | undefined {
  const lines = groups.split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line) ?? []);
  const [, , own] = lines.find(([, names = '']) => names.split(',').includes(controller)) ?? [];
  if (own !== undefined) {
    const file = controller === 'memory' ? 'memory.limit_in_bytes' : 'pids.max';
    // A container has its own group as the root of what it sees.
    const parent = [path.resolve(MOUNT, controller, `.${own}`), path.join(MOUNT, controller)].find((one) =>
      isThere(one),
    );
    return parent === undefined ? undefined : { parent, file };
  }
  const [, , unified] = lines.find(([, names]) => names === '') ?? [];
  if (unified === undefined) return undefined;
  return { parent: path.join(MOUNT, unified === '/' ? '/' : path.dirname(unified)), file: `${controller}.max` };
}

/** @throws NodeRefusal where this user may not limit what is asked for */
export function limitedGroup({ memory, pids }: SandboxLimits): LimitedGroup | undefined {
  const asked = [
    ...(memory === undefined ? [] : [{ controller: 'memory' as const, option: '--memory', value: memory }]),
    ...(pids === undefined ? [] : [{ controller: 'pids' as const, option: '--pids', value: pids }]),
  ];
  if (asked.length === 0) return undefined;
  const groups = readFileSync('/proc/self/cgroup', 'utf8');
  const made = new Set<string>();
  const remove = () => {
    for (const group of made) removeGroup(group);
  };
  for (const { controller, option, value } of asked) {
    const hierarchy = hierarchyOf(controller, groups);
    try {
      if (!hierarchy) throw new Error(`this machine has no controller ${controller}`);
      removeLeft(hierarchy.parent);
      const group = path.join(hierarchy.parent, `${PREFIX}${process.pid}`);
      mkdirSync(group, { recursive: true });
      made.add(group);
      writeFileSync(path.join(group, hierarchy.file), `${value}`);
    } catch (error) {
      remove();
      const how = 'As root it can; an ordinary user can where systemd-run --user --scope starts it';
      throw new NodeRefusal(
        'wrong-setting',
        `${option} cannot be kept: no control group with ${controller} is this user's to make (${(error as Error).message}). ${how}. The token was not used.`,
      );
    }
  }
  return {
    add(pid) {
      for (const group of made) writeFileSync(path.join(group, 'cgroup.procs'), `${pid}`);
    },
    remove,
  };
}

/** Groups of sandboxes that were killed: one with processes stays. */
function removeLeft(parent: string): void {
  for (const name of readdirSync(parent)) {
    // A sandbox that is starting has an empty group too: its process tells.
    const isHeld = existsSync(`/proc/${name.slice(PREFIX.length)}`);
    if (name.startsWith(PREFIX) && !isHeld) removeGroup(path.join(parent, name));
  }
}

function removeGroup(group: string): void {
  try {
    rmdirSync(group);
  } catch {
    // It is in use, or gone.
  }
}

/** @returns bytes of a text such as 512m or 2g; undefined where it is none */
export function bytesIn(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([kmg]?)$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const bytes = Number(digits) * 1_024 ** ['', 'k', 'm', 'g'].indexOf(unit.toLowerCase());
  return bytes >= 1_048_576 ? bytes : undefined;
}
