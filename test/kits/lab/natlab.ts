import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { isRunning } from '../../../cli/is-running.ts';
import { type Ran, type RunOptions, run } from '../process/run-command.ts';

/**
 * Hosts, routers and an internet between them, each a network namespace of this process's own.
 *
 *     internet 198.51.100.0/24 and 2001:db8:1::/64 (a bridge)
 *       plane .1                    named plane.test, both families
 *       hosts .10 and up            directly on it
 *       routers .100 and up         each with a LAN 192.168.<n>.0/24 behind it; a router may stand behind another
 */
export interface LabSpec {
  readonly routers?: Readonly<Record<string, RouterSpec>>;
  readonly hosts: Readonly<Record<string, HostSpec>>;
}

export interface RouterSpec {
  /**
   * `easy` keeps source ports, so a mapping is the same to everyone; `hard` draws a new port for every destination; `none`
   * only routes. Each drops what was not asked for.
   */
  readonly nat: 'easy' | 'hard' | 'none';
  /** Another router, named before it. */
  readonly behind?: string;
}

export interface HostSpec {
  /** A router; the internet unless given. */
  readonly behind?: string;
  /** Drops what was not asked for, as a laptop's own firewall does. */
  readonly firewall?: boolean;
  /** On the internet only; both unless given. */
  readonly family?: 'ipv4' | 'ipv6';
}

export interface PingOptions {
  readonly count?: number;
  readonly intervalMs?: number;
  /** For each answer. */
  readonly waitSeconds?: number;
}

const PREFIX = 'mlab';
export const PLANE_NAME = 'plane.test';
const CLOSED_INPUT =
  'chain input { type filter hook input priority 0; policy drop; ct state established,related accept; iifname "lo" accept; ' +
  'meta l4proto { icmp, ipv6-icmp } accept; }';
/** Where the WireGuard of every namespace has its sockets. */
const SOCKETS = '/var/run/wireguard';
let labs = 0;
let interfaces = 0;

/** A name for a WireGuard interface that no other of this machine has. */
export function freshInterface(): string {
  return `m${process.pid}n${interfaces++}`;
}

/** A namespace that stands for one machine. */
export class LabHost {
  readonly name: string;
  readonly namespace: string;
  /** IPv4 address on its way out; undefined on a host with IPv6 alone. */
  readonly address: string | undefined;

  constructor(name: string, namespace: string, address: string | undefined) {
    this.name = name;
    this.namespace = namespace;
    this.address = address;
  }

  /** Runs a program to its end; answers any exit code. */
  run(file: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return run('ip', ['netns', 'exec', this.namespace, file, ...args], options);
  }

  /** As `run`. @throws Error with its output when it does not end with 0 */
  async must(file: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.run(file, args, options);
    if (code !== 0) throw new Error(`${this.name}: ${file} ${args.join(' ')} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  /** Starts a program; the lab ends it. */
  spawn(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    return spawn('ip', ['netns', 'exec', this.namespace, file, ...args], {
      env: { PATH: process.env['PATH'], ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  /** Loads packet rules, as nft(8) reads them. */
  async nft(rules: string): Promise<void> {
    await this.must('nft', ['-f', '-'], { stdin: rules });
  }

  /** Drops matching packets that come in, go out or pass through, not those on the loopback: `udp dport 3478` for example. */
  async block(match: string): Promise<void> {
    const chain = (hook: string, where: string) =>
      `add chain inet lab_block b_${hook} { type filter hook ${hook} priority -250; }\n` +
      `add rule inet lab_block b_${hook} ${where} ${match} drop\n`;
    const chains = [chain('input', 'iifname != "lo"'), chain('output', 'oifname != "lo"'), chain('forward', '')];
    await this.nft(`add table inet lab_block\n${chains.join('')}`);
  }

  unblock(): Promise<void> {
    return this.nft('add table inet lab_block\ndelete table inet lab_block\n');
  }

  /** One echo after the other; the share that was answered is for the caller to judge. */
  async ping(address: string, options: PingOptions = {}): Promise<{ sent: number; received: number }> {
    const { sent, answeredAt } = await this.echoes(address, options);
    return { sent, received: answeredAt.length };
  }

  /**
   * One echo after the other, and when each that was answered was, in seconds. ping(8) waits for the answer to its last one no
   * longer than until it would send the next: others follow those that count, until these had their time.
   */
  async echoes(
    address: string,
    { count = 1, intervalMs = 200, waitSeconds = 1 }: PingOptions = {},
  ): Promise<{ sent: number; answeredAt: number[] }> {
    const behind = Math.ceil((waitSeconds * 1_000) / intervalMs);
    const seconds = `${intervalMs / 1_000}`;
    const child = this.spawn('ping', ['-n', '-D', '-c', `${count + behind}`, '-i', seconds, '-W', seconds, address]);
    child.stderr?.resume();
    const answeredAt = new Map<number, number>();
    let sent = 0;
    for await (const line of createInterface({ input: child.stdout as Readable })) {
      const [, at, number] = /^\[([\d.]+)\] \d+ bytes from .* icmp_seq=(\d+) /.exec(line) ?? [];
      if (Number(number) <= count && !answeredAt.has(Number(number))) answeredAt.set(Number(number), Number(at));
      if (answeredAt.size === count) child.kill('SIGINT');
      const [, transmitted] = /^(\d+) packets transmitted/.exec(line) ?? [];
      if (transmitted) sent = Math.min(count, Number(transmitted));
    }
    return { sent, answeredAt: [...answeredAt.values()] };
  }

  /** Whether one echo is answered within the time, of one each 50 ms. */
  async reaches(address: string, seconds = 20): Promise<boolean> {
    return (await this.run('ping', ['-n', '-c', '1', '-i', '0.05', '-w', `${seconds}`, address])).code === 0;
  }

  async hasInterface(name: string): Promise<boolean> {
    return (await this.run('ip', ['link', 'show', 'dev', name])).code === 0;
  }
}

export class Natlab {
  readonly #namespaces: readonly string[];
  readonly #hosts: ReadonlyMap<string, LabHost>;

  constructor(namespaces: readonly string[], hosts: ReadonlyMap<string, LabHost>) {
    this.#namespaces = namespaces;
    this.#hosts = hosts;
  }

  /** A host or a router; `plane` is the control plane's, `internet` the bridge between all. */
  host(name: string): LabHost {
    const host = this.#hosts.get(name);
    if (!host) throw new Error(`The lab has no ${name}.`);
    return host;
  }

  /** Ends what runs in its namespaces, and takes them away. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const namespace of this.#namespaces) await removeNamespace(namespace);
  }
}

/** Builds a lab, and takes away those that a crash left behind. */
export async function natlab({ routers = {}, hosts }: LabSpec): Promise<Natlab> {
  await sweep();
  const lab = `${PREFIX}${process.pid}x${labs++}`;
  const scripts = new Map<string, string[]>();
  const found = new Map<string, LabHost>();
  const namespaceOf = (name: string) => `${lab}-${name}`;
  const script = (name: string) => {
    const lines = scripts.get(name) ?? [];
    scripts.set(name, lines);
    return lines;
  };
  const place = (name: string, address?: string) =>
    found.set(name, new LabHost(name, namespaceOf(name), address?.split('/')[0]));

  const links: string[] = [];
  /** A cable from `eth0` of one to a port of the bridge `br0` of another. */
  const connect = (name: string, to: string, addresses: readonly string[], gateway?: string) => {
    const port = `p${links.length}`;
    links.push(`link add eth0 netns ${namespaceOf(name)} type veth peer name ${port} netns ${namespaceOf(to)}`);
    script(to).push(`link set ${port} master br0 up`);
    script(name).push('link set eth0 up', ...addresses.map((address) => `addr add ${address} dev eth0`));
    if (gateway) script(name).push(`route add default via ${gateway}`);
  };

  script('internet').push('link add br0 type bridge', 'link set br0 up');
  place('internet');
  connect('plane', 'internet', ['198.51.100.1/24', '2001:db8:1::1/64']);
  place('plane', '198.51.100.1');

  const lanOf = new Map(Object.keys(routers).map((name, index) => [name, index + 1]));
  for (const [name, { behind }] of Object.entries(routers)) {
    const lan = lanOf.get(name) ?? 0;
    script(name).push('link add br0 type bridge', 'link set br0 up', `addr add 192.168.${lan}.1/24 dev br0`);
    const outer = behind === undefined ? undefined : lanOf.get(behind);
    const address = outer === undefined ? `198.51.100.${100 + lan}/24` : `192.168.${outer}.${200 + lan}/24`;
    connect(name, behind ?? 'internet', [address], outer === undefined ? undefined : `192.168.${outer}.1`);
    place(name, address);
  }
  for (const [index, [name, { behind, family }]] of Object.entries(hosts).entries()) {
    const lan = behind === undefined ? undefined : lanOf.get(behind);
    if (lan === undefined) {
      const addresses = [
        ...(family === 'ipv6' ? [] : [`198.51.100.${10 + index}/24`]),
        ...(family === 'ipv4' ? [] : [`2001:db8:1::${10 + index}/64`]),
      ];
      connect(name, 'internet', addresses);
      place(name, family === 'ipv6' ? undefined : addresses[0]);
    } else {
      connect(name, behind ?? '', [`192.168.${lan}.${10 + index}/24`], `192.168.${lan}.1`);
      place(name, `192.168.${lan}.${10 + index}`);
    }
  }

  const namespaces = [...scripts.keys()].map(namespaceOf);
  const built = new Natlab(namespaces, found);
  try {
    await must('ip', ['-batch', '-'], namespaces.map((namespace) => `netns add ${namespace}`).join('\n'));
    for (const namespace of namespaces) await prepare(namespace);
    await must('ip', ['-batch', '-'], links.join('\n'));
    for (const [name, lines] of scripts) {
      await must('ip', ['-n', namespaceOf(name), '-batch', '-'], ['link set lo up', ...lines].join('\n'));
    }
    for (const [name, { nat }] of Object.entries(routers)) await built.host(name).nft(routerRules(nat));
    for (const [name, { firewall }] of Object.entries(hosts))
      if (firewall) await built.host(name).nft(`table inet lab_host {\n${CLOSED_INPUT}\n}\n`);
    return built;
  } catch (error) {
    await built[Symbol.asyncDispose]();
    throw error;
  }
}

function routerRules(nat: RouterSpec['nat']): string {
  const masquerade = nat === 'hard' ? 'masquerade random,fully-random' : 'masquerade';
  const source = `chain post { type nat hook postrouting priority srcnat; oifname "eth0" ${masquerade}; }`;
  const forward =
    'chain forward { type filter hook forward priority 0; policy drop; ct state established,related accept; iifname "br0" accept; }';
  return `table inet lab_router {\n${CLOSED_INPUT}\n${forward}\n${nat === 'none' ? '' : source}\n}\n`;
}

/** Names that resolve without a resolver, addresses that are there at once, and packets that are passed on. */
async function prepare(namespace: string): Promise<void> {
  const directory = `/etc/netns/${namespace}`;
  mkdirSync(directory, { recursive: true });
  const names = `127.0.0.1 localhost\n::1 localhost\n198.51.100.1 ${PLANE_NAME}\n2001:db8:1::1 ${PLANE_NAME}\n`;
  writeFileSync(`${directory}/hosts`, names);
  const settings = [
    'ipv6/conf/all/accept_dad=0',
    'ipv6/conf/default/accept_dad=0',
    'ipv4/ip_forward=1',
    'ipv4/conf/all/rp_filter=0',
    'ipv4/conf/default/rp_filter=0',
  ];
  const script = settings.map((setting) => `echo ${setting.split('=')[1]} > /proc/sys/net/${setting.split('=')[0]}`);
  await must('ip', ['netns', 'exec', namespace, 'sh', '-c', script.join('; ')], '');
}

async function removeNamespace(namespace: string): Promise<void> {
  const { stdout } = await run('ip', ['netns', 'pids', namespace]);
  for (const pid of stdout
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 0)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  await run('ip', ['netns', 'delete', namespace]);
  rmSync(`/etc/netns/${namespace}`, { recursive: true, force: true });
}

/** What processes that are no more have left: labs, and sockets of a WireGuard that was killed. */
async function sweep(): Promise<void> {
  if (labs > 0) return;
  const isLeft = (pid: string | undefined) => pid !== undefined && !isRunning(Number(pid));
  for (const namespace of namesIn('/run/netns'))
    if (isLeft(new RegExp(`^${PREFIX}(\\d+)x`).exec(namespace)?.[1])) await removeNamespace(namespace);
  for (const socket of namesIn(SOCKETS))
    if (isLeft(/^m(\d+)n\d+\.sock$/.exec(socket)?.[1])) rmSync(`${SOCKETS}/${socket}`, { force: true });
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

async function must(file: string, args: readonly string[], stdin: string): Promise<void> {
  const { code, stderr } = await run(file, args, { stdin });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${code}: ${stderr}\n${stdin}`);
}
