import { chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Isolation } from '../../platform/isolation.ts';
import type { RootStep } from './root-plan.ts';
import type { SandboxUser } from './user.ts';

/** A directory that every host has. Only this mount namespace sees what is mounted there. */
const BASE = '/tmp';
const FORMER = '/host';
const NEXT = '/next';
/** Share of the machine's memory that one of a sandbox's file systems takes at most. */
const MEMORY = 'size=25%,nr_inodes=200k';

/** Makes the file system of a sandbox and enters it. @throws Error with the step that failed */
export function buildRoot(steps: readonly RootStep[], user: SandboxUser, isolation: Isolation): void {
  isolation.mount('tmpfs', BASE, 'mode=755');
  mkdirSync(path.join(BASE, FORMER));
  mkdirSync(path.join(BASE, NEXT));
  isolation.swapRoot(BASE, path.join(BASE, FORMER));
  isolation.mount('tmpfs', NEXT, `mode=755,${MEMORY}`);
  for (const step of steps) {
    try {
      take(step, user, isolation);
    } catch (error) {
      throw new Error(`${step.path}: ${(error as Error).message}`);
    }
  }
  isolation.mount('proc', `${NEXT}/proc`, '');
  isolation.mount('devpts', `${NEXT}/dev/pts`, 'newinstance,ptmxmode=0666,mode=0620');
  isolation.enterRoot(NEXT);
}

function take(step: RootStep, { uid, gid }: SandboxUser, isolation: Isolation): void {
  const at = NEXT + step.path;
  if (step.kind !== 'directory') mkdirSync(path.dirname(at), { recursive: true });
  switch (step.kind) {
    case 'directory':
      mkdirSync(at, { recursive: true });
      return;
    case 'own-directory':
      mkdirSync(at, { mode: 0o700 });
      chownSync(at, uid, gid);
      return;
    case 'memory':
      mkdirSync(at, { recursive: true });
      isolation.mount('tmpfs', at, `mode=${step.mode.toString(8)},${MEMORY}`);
      return;
    case 'link':
      symlinkSync(step.target, at);
      return;
    case 'file':
      writeFileSync(at, step.text);
      return;
    case 'bind': {
      const source = FORMER + step.source;
      if (statSync(source).isDirectory()) mkdirSync(at, { recursive: true });
      else writeFileSync(at, '', { flag: 'a' });
      isolation.bind(source, at, { isReadOnly: step.access === 'read', hasDevices: step.access === 'device' });
    }
  }
}

/** From now on nothing of the root changes but what is mounted in it. */
export function sealRoot(resolvConf: string, isolation: Isolation): void {
  writeFileSync('/etc/resolv.conf', resolvConf);
  isolation.sealRoot();
}
