import path from 'node:path';
import { expect, it } from 'vitest';
import { findProgram, type ProgramHost, refusedPlace, runtimePaths } from './places.ts';
import { rootPlan } from './root-plan.ts';

const HOMES = ['/home/ann', '/root', '/home'];

/** A host with these files; a text that begins with `->` is a link, one that is null a directory. */
function hostOf(files: Readonly<Record<string, string | null>>): ProgramHost {
  const isLink = (file: string) => files[file]?.startsWith('->') === true;
  const linkTarget = (file: string) => (files[file] ?? '').slice(2);
  const real = (file: string): string => {
    if (!isLink(file)) return file;
    return real(path.resolve(path.dirname(file), linkTarget(file)));
  };
  return {
    kindOf(file) {
      if (isLink(file)) return 'link';
      if (typeof files[file] === 'string') return 'file';
      return Object.keys(files).some((one) => one === file || one.startsWith(`${file}/`)) ? 'directory' : undefined;
    },
    linkTarget,
    real,
    isExecutable: (file) => typeof files[real(file)] === 'string',
    head: (file) => files[real(file)] ?? '',
  };
}

it('binds neither homes nor what holds them nor the state of the host, and what lies in a home', () => {
  const refused = ['/', '/home/ann', '/home', '/root', '/tmp', '/usr', '/etc', '/proc/1', '/run/user/1000', '/dev/shm'];
  expect(refused.filter((place) => refusedPlace(place, HOMES) === undefined)).toEqual([]);
  const taken = ['/home/ann/work', '/srv/data', '/app', '/tmp/job-7'];
  expect(taken.filter((place) => refusedPlace(place, HOMES) !== undefined)).toEqual([]);
});

it('brings the runtime of a program of nvm, pyenv and venv, and of the interpreter of a script', () => {
  const host = hostOf({
    '/home/ann/.nvm/versions/node/v24/bin/node': 'elf',
    '/home/ann/.pyenv/shims/python': '#!/usr/bin/env bash\n',
    '/home/ann/job/venv/bin/python': '->/home/ann/.pyenv/versions/3.13/bin/python3.13',
    '/home/ann/.pyenv/versions/3.13/bin/python3.13': 'elf',
    '/home/ann/.local/bin/tool': '#!/home/ann/job/venv/bin/python\n',
    '/home/ann/.local/share/keys': 'secret',
    '/home/ann/bin/own': 'elf',
    '/usr/bin/bash': 'elf',
  });
  const of = (program: string) => runtimePaths(program, '/usr/bin', '/', HOMES, host).toSorted();
  expect(of('/home/ann/.nvm/versions/node/v24/bin/node')).toEqual(['/home/ann/.nvm/versions/node/v24']);
  expect(of('/home/ann/.pyenv/shims/python')).toEqual(['/home/ann/.pyenv', '/usr/bin/bash']);
  const runtimes = ['/home/ann/.pyenv/versions/3.13', '/home/ann/job/venv'];
  expect(of('/home/ann/job/venv/bin/python')).toEqual(runtimes);
  // Not the whole of ~/.local, nor a home.
  expect(of('/home/ann/.local/bin/tool')).toEqual(['/home/ann/.local/bin/tool', ...runtimes]);
  expect(of('/home/ann/bin/own')).toEqual(['/home/ann/bin/own']);
});

it('finds a program as a shell does', () => {
  const host = hostOf({ '/usr/bin/env': 'elf', '/work/run.sh': '#!/bin/sh' });
  expect(findProgram('env', '/bin:/usr/bin', '/', host)).toBe('/usr/bin/env');
  expect(findProgram('./run.sh', '/usr/bin', '/work', host)).toBe('/work/run.sh');
  expect([findProgram('cd', '/usr/bin', '/', host), findProgram('/nowhere', '', '/', host)]).toEqual([
    undefined,
    undefined,
  ]);
});

it('plans a root of the system, of what is bound and of nothing else, with identities in it covered', () => {
  const host = hostOf({
    '/usr/bin/env': 'elf',
    '/bin': '->usr/bin',
    '/etc/ssl/cert.pem': 'certificate',
    '/etc/shadow': 'secret',
    '/etc/cron.d/job': 'job',
    '/home/ann/work/agent.py': 'script',
    '/home/ann/work/.mesh/node.json': 'key',
    '/home/ann/out': null,
    '/home/ann/.ssh/id': 'key',
  });
  const bound = ['/home/ann/work', '/usr/bin/env'];
  const steps = rootPlan(
    {
      user: { uid: 1000, gid: 1000 },
      bound,
      workdir: '/home/ann/out',
      hidden: ['/home/ann/work/.mesh', '/home/ann/.mesh'],
    },
    host,
  );
  const binds = steps.flatMap((step) =>
    step.kind === 'bind' && step.access !== 'device' ? [`${step.access} ${step.path}`] : [],
  );
  expect(binds).toEqual(['read /usr', 'read /etc/ssl', 'write /home/ann/out', 'read /home/ann/work']);
  expect(steps).toContainEqual({ kind: 'link', path: '/bin', target: 'usr/bin' });
  expect(steps.at(-1)).toEqual({ kind: 'memory', path: '/home/ann/work/.mesh', mode: 0o555 });
  const passwd = steps.find(({ path: file }) => file === '/etc/passwd');
  expect(passwd).toMatchObject({ text: expect.stringContaining('sandbox:x:1000:1000::/home/sandbox:/bin/sh') });
});
