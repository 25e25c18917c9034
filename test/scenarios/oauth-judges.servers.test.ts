import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { oauthClient } from '../kits/http/oauth-client.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { npmJudge } from '../kits/process/npm-judges.ts';
import { hasTerminal } from '../kits/process/pseudo-terminal.ts';
import { pythonWith } from '../kits/process/python-judges.ts';
import { freePorts } from '../kits/servers/free-port.ts';

const FOLDER = path.resolve('test/oauth-judges');
/** A tool that every client gets that may read, and that nothing else in an answer names. */
const TOOL = 'list_policies';
/** With what follows it, so that no half of an address counts. */
const ASKED = /(http:\/\/[\w.:]+\/oauth\/authorize\?[\w.~%&=+-]+)[^\w.~%&=+-]/;

/** A client with its arguments, for an address of `/mcp` and a free port for its redirect. */
interface Judge {
  /** Empty where it is not installed. */
  readonly command: (url: string, port: number) => readonly string[];
  readonly isOnTerminal?: boolean;
  /** What a person or program sends to its standard input once it shows something. */
  readonly input?: readonly { readonly after: string; readonly text: string }[];
  /** Has no server for its redirect, and reads the address that a browser was led to. */
  readonly readsRedirect?: boolean;
}

function fromNpm(file: string, args: (url: string, port: number) => readonly string[]): Judge {
  const found = npmJudge(file);
  return { command: (url, port) => (found === undefined ? [] : [process.execPath, found, ...args(url, port)]) };
}

function fromPython(script: string, requirements: string): Judge {
  const python = pythonWith(path.join(FOLDER, requirements), `oauth-judges-${path.parse(requirements).name}`);
  return {
    command: (url, port) => (python === undefined ? [] : [python, path.join(FOLDER, script), url, String(port)]),
  };
}

function messages(...all: readonly object[]): string {
  return all.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'scenario', version: '1' } };

const JUDGES: Readonly<Record<string, Judge>> = {
  'mcp-remote': {
    ...fromNpm('mcp-remote/dist/proxy.js', (url, port) => [url, String(port)]),
    input: [
      { after: 'Proxy established', text: messages({ id: 1, method: 'initialize', params: HELLO }) },
      {
        after: '"protocolVersion":"2025-06-18"',
        text: messages({ method: 'notifications/initialized' }, { id: 2, method: 'tools/list' }),
      },
    ],
  },
  'the inspector': {
    ...fromNpm('@modelcontextprotocol/inspector/clients/launcher/build/index.js', (url, port) => [
      ...['--cli', '--server-url', url, '--transport', 'http', '--method', 'tools/list', '--format', 'json'],
      ...['--callback-url', `http://127.0.0.1:${port}/oauth/callback`],
    ]),
    isOnTerminal: true,
  },
  mcporter: {
    // It signs in by one command, and lists by another.
    command(url) {
      const file = npmJudge('mcporter/dist/cli.js');
      const of = `--http-url ${url} --allow-http --name mesh`;
      const call = (words: string) => `'${process.execPath}' '${file}' ${words} ${of}`;
      return file === undefined ? [] : ['sh', '-c', `${call('auth --no-browser')} && ${call('list')}`];
    },
  },
  'the official client in Python': { ...fromPython('official_client.py', 'requirements.txt'), readsRedirect: true },
  fastmcp: fromPython('fastmcp_client.py', 'requirements.txt'),
  'mcp-use': fromPython('mcp_use_client.py', 'mcp-use.txt'),
};

/** Runs a client to its end, or until it has listed the tools, with a person who allows what it asks. */
async function signIn(harness: Harness, judge: Judge) {
  const person = await harness.workspace();
  const browser = oauthClient(harness);
  const home = freshDirectory();
  const [port = 0] = await freePorts(1);
  const words = judge.command(`${harness.url}/mcp`, port);
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const [program = '', ...rest] = judge.isOnTerminal ? ['script', '-qefc', quoted, '/dev/null'] : words;
  // A browser that prints the address to which it is led.
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    BROWSER: 'echo %s',
    TERM: 'dumb',
    SHELL: '/bin/sh',
    COLUMNS: '2000',
    MCP_USE_ANONYMIZED_TELEMETRY: 'false',
  };
  const child = spawn(program, rest, { cwd: home, env, stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = [...(judge.input ?? [])];
  let shown = '';
  let isAllowed = false;

  async function allow(address: string): Promise<void> {
    const request = await browser.open(address);
    const { body } = await harness.api('POST', `/api/v1/oauth/requests/${request}/allow`, { ...person, body: {} });
    const redirect = (await browser.browse(body.url)).headers.get('location') ?? '';
    if (judge.readsRedirect) child.stdin.write(`${redirect}\n`);
    else await (await fetch(redirect)).text();
  }

  async function read(stream: NodeJS.ReadableStream): Promise<void> {
    for await (const chunk of stream.setEncoding('utf8')) {
      shown += chunk;
      const [next] = waiting;
      if (next && shown.includes(next.after)) child.stdin.write(waiting.shift()?.text ?? '');
      const [, address] = ASKED.exec(shown) ?? [];
      if (address !== undefined && !isAllowed) {
        isAllowed = true;
        await allow(address);
      }
      if (shown.includes(TOOL)) child.stdin.end();
    }
  }

  try {
    await Promise.all([read(child.stdout), read(child.stderr), once(child, 'exit')]);
  } finally {
    child.kill();
  }
  const { body } = await harness.api('GET', '/api/v1/agents', person);
  return { isAllowed, shown, clients: body.items.map(({ client }: { client?: unknown }) => client) };
}

test.for(Object.entries(JUDGES))('%s signs in without a token and finds the tools', async ([, judge], { skip }) => {
  if (judge.command('', 0).length === 0 || (judge.isOnTerminal && !hasTerminal)) skip();
  await using harness = await startHarness();
  const { isAllowed, shown, clients } = await signIn(harness, judge);

  expect([isAllowed, shown]).toEqual([true, expect.stringContaining(TOOL)]);
  expect(clients).toMatchObject([{ host: 'this machine', resource: `${harness.url}/mcp` }]);
});
