import { Broker, type BrokerOptions } from './broker.ts';
import type { Command, Delivery } from './commands.ts';
import type { Session } from './session.ts';

/** A broker without sockets for tests: text in, text out, the clock in the test's hand. */
export class Bench {
  readonly broker: Broker;
  now = 1_000_000;
  readonly deliveries: Delivery[] = [];
  readonly #lines = new Map<Session, Line>();

  constructor(options: Partial<BrokerOptions> = {}) {
    this.broker = new Broker({ serverId: 'TEST', auth: 'open', ...options });
  }

  connect(first = '', address?: string): Line {
    const line = new Line(this, this.broker.connect(this.now, address));
    this.#lines.set(line.session, line);
    this.run();
    line.greeting = line.read();
    if (first !== '') line.send(first);
    return line;
  }

  control(): Line {
    const line = new Line(this, this.broker.connectControl(this.now));
    this.#lines.set(line.session, line);
    return line;
  }

  /** Carries out the broker's commands as an ideal socket would; a frozen line takes nothing. */
  run(): readonly Command[] {
    const commands = this.broker.takeCommands();
    for (const command of commands) {
      if (command.kind === 'deliver') this.deliveries.push(command.delivery);
      else this.#lines.get(command.session)?.obey(command);
    }
    return commands;
  }

  tick(ms: number): void {
    this.now += ms;
    this.broker.tick(this.now);
    this.run();
  }
}

/** A connection of a `Bench`. */
export class Line {
  readonly session: Session;
  greeting = '';
  closed: string | undefined;
  paused = false;
  frozen = false;
  readonly #bench: Bench;
  #text = '';

  constructor(bench: Bench, session: Session) {
    this.#bench = bench;
    this.session = session;
  }

  send(bytes: string): this {
    this.#bench.broker.handle(this.session, Buffer.from(bytes, 'latin1'), this.#bench.now);
    this.#bench.run();
    return this;
  }

  /** Returns the text received since the last read. */
  read(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  obey(command: Exclude<Command, { kind: 'deliver' }>): void {
    const { broker, now } = this.#bench;
    if (command.kind === 'pause' || command.kind === 'resume') this.paused = command.kind === 'pause';
    else {
      const isCut = command.kind === 'close' && command.cut;
      for (let chunk = isCut ? undefined : broker.take(this.session, now); chunk !== undefined; ) {
        if (this.frozen) break;
        this.#text += Buffer.from(chunk.bytes).toString('latin1');
        broker.written(this.session, chunk);
        chunk = broker.take(this.session, now);
      }
      if (command.kind === 'close') {
        this.closed = command.reason;
        broker.disconnect(this.session, now);
      }
    }
  }
}
