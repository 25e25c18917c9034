import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isInstalled } from '../../test/kits/process/needs.ts';
import { type CorpusSession, corpus } from './corpus.testkit.ts';
import { NatsListener } from './listener.ts';

/** A loaded machine is slow; a test that hangs still ends. */
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** The rules of the open bus, said to nats-server: a user who is everybody. */
const GUARDED = `authorization { users: [{ user: "any", password: "any", permissions: {
  publish: { deny: ["mesh.*.*.graph"] }, subscribe: { deny: ["mesh.control.>"] } } }] }
no_auth_user: "any"`;

const QUIET = 'CONNECT {"verbose":false,"pedantic":false}\r\n';

const SERVER = 'nats-server';

class Conversation {
  readonly #socket: Socket;
  #text = '';
  #closed = false;
  #pongs = 0;
  #changed: () => void = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes) => {
      this.#text += bytes.toString('latin1');
      this.#changed();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed = true;
      this.#changed();
    });
  }

  static async open(port: number): Promise<Conversation> {
    const socket = connect(port, '127.0.0.1');
    const conversation = new Conversation(socket);
    await conversation.#until(() => conversation.#text.includes('\r\n'));
    conversation.#text = conversation.#text.replace(/^INFO [^\r]*\r\n/, '');
    return conversation;
  }

  /** Sends, and waits until the server has answered a PING behind it or has closed. */
  async say(bytes: string): Promise<void> {
    if (this.#closed) return;
    this.#pongs += 1 + [...bytes.matchAll(/^ping/gim)].length;
    this.#socket.write(Buffer.from(`${bytes}PING\r\n`, 'latin1'));
    await this.#until(() => this.#closed || this.#text.split('PONG\r\n').length > this.#pongs);
  }

  /** Everything heard, and whether the server hung up. */
  end(): { readonly heard: string; readonly closed: boolean } {
    this.#socket.destroy();
    return { heard: this.#text, closed: this.#closed };
  }

  async #until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }
}

async function hold({ turns, unordered = false }: CorpusSession, port: number) {
  const names = [...new Set(turns.map(([name]) => name))];
  const conversations = new Map<string, Conversation>();
  for (const name of names) conversations.set(name, await Conversation.open(port));
  for (const [name, bytes] of turns) await conversations.get(name)?.say(bytes);
  return names.map((name) => {
    const { heard, closed } = conversations.get(name)?.end() ?? { heard: '', closed: true };
    return { name, heard: unordered ? heard.split(/(?=H?MSG |PONG)/).sort() : heard, closed };
  });
}

async function startServer(directory: string, config: string): Promise<{ port: number; process: ChildProcess }> {
  const file = join(directory, `server-${config.length}.conf`);
  writeFileSync(file, `listen: "127.0.0.1:-1"\n${config}\n`);
  const server = spawn(SERVER, ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  while (!log.includes('Server is ready')) log += String((await once(server.stderr, 'data'))[0]);
  server.stderr.resume();
  return { port: Number(/client connections on 127\.0\.0\.1:(\d+)/.exec(log)?.[1]), process: server };
}

describe.skipIf(!isInstalled(SERVER))('beside nats-server', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mesh-nats-'));
  const ours = new NatsListener({ host: '127.0.0.1', port: 0, auth: 'open' });
  const ports = { ours: 0, open: 0, guarded: 0 };
  const servers: ChildProcess[] = [];

  beforeAll(async () => {
    ports.ours = (await ours.start()).port;
    for (const kind of ['open', 'guarded'] as const) {
      const { port, process } = await startServer(directory, kind === 'open' ? '' : GUARDED);
      ports[kind] = port;
      servers.push(process);
    }
  });

  afterAll(async () => {
    for (const server of servers) server.kill();
    await ours.stop();
    rmSync(directory, { recursive: true });
  });

  it.each(corpus.map((session) => [session.name, session] as const))(
    'the same frames come back: %s',
    async (_name, session) => {
      const theirs = await hold(session, session.guarded === true ? ports.guarded : ports.open);
      expect(await hold(session, ports.ours)).toEqual(theirs);
    },
  );

  it.each(['ours', 'open'] as const)(
    'members of one queue group on overlapping subjects get one copy in all, and each of them some: %s',
    async (server) => {
      const member = await Conversation.open(ports[server]);
      const other = await Conversation.open(ports[server]);
      await member.say(`${QUIET}SUB a.* g 1\r\nSUB > g 2\r\nSUB a.b h 4\r\n`);
      await other.say(`${QUIET}SUB a.b g 3\r\n${'PUB a.b 1\r\nx\r\n'.repeat(300)}`);
      await member.say('');
      const heard = member.end().heard + other.end().heard;
      const copies = [1, 2, 3, 4].map((sid) => heard.split(`MSG a.b ${sid} 1`).length - 1);
      expect(copies.slice(0, 3).reduce((sum, each) => sum + each)).toBe(300);
      expect([Math.min(...copies.slice(0, 3)) > 30, copies[3]]).toEqual([true, 300]);
    },
  );
});
