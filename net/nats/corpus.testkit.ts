/**
 * Byte sessions that real clients and careless ones send, and how they must end. The same list feeds the parser (any
 * split), the broker (no throw) and the comparison with nats-server. One character is one byte.
 */
export interface CorpusSession {
  readonly name: string;
  /** Whose bytes, in turn; a turn is answered before the next begins. */
  readonly turns: readonly (readonly [connection: string, bytes: string])[];
  /** Frames may come in any order: several subscriptions match. */
  readonly unordered?: boolean;
  /** The server must have the two subject rules of the open bus. */
  readonly guarded?: boolean;
}

const LOUD = 'CONNECT {"verbose":true,"pedantic":true,"headers":true}\r\n';
const QUIET = 'CONNECT {"verbose":false,"pedantic":false,"headers":true}\r\n';
const ASKING = 'CONNECT {"verbose":false,"pedantic":false,"headers":true,"no_responders":true}\r\n';
const SILENT = 'CONNECT {"verbose":false,"pedantic":false,"echo":false}\r\n';
const BLOCK = 'NATS/1.0\r\n\r\n';

const alone = (name: string, bytes: string): CorpusSession => ({ name, turns: [['a', bytes]] });

export const corpus: readonly CorpusSession[] = [
  alone('ping', 'PING\r\n'),
  alone('lower case', 'ping\r\nconnect {"verbose":false}\r\nsub foo 1\r\npub foo 2\r\nok\r\nunsub 1\r\n'),
  alone('words after ping', 'PINGxyz\r\nPING\n'),
  alone('long tail after ping', `PING${'x'.repeat(5_000)}\r\n`),
  alone('unasked pong', 'PONG\r\n'),
  alone('verbose and pedantic', `${LOUD}SUB foo 1\r\nPUB foo 5\r\nhello\r\nUNSUB 1\r\nPONG\r\n`),
  alone('before connect', 'SUB foo 1\r\nPUB foo 1\r\na\r\n'),
  alone('publish to nobody, verbose', 'PUB foo 2\r\nok\r\n'),
  alone(
    'spaces, tabs, leading zeros',
    `${QUIET}SUB  foo \t 1  \r\nPUB foo   005\r\nhello\r\nPUB\tfoo\tbar\t2\r\nhi\r\npub foo bar  0\r\n\r\n`,
  ),
  alone('lone line feeds', `${QUIET}SUB foo 1\nPUB foo 2\nhi\r\n`),
  alone('empty payload', `${QUIET}SUB foo 1\r\nPUB foo 0\r\n\r\n`),
  alone('payload of protocol words', `${QUIET}SUB foo 1\r\nPUB foo 15\r\n+OK\r\n-ERR 'x'\r\n\r\n`),
  alone('bytes above 127', `${QUIET}SUB a\x80\xffb 1\r\nPUB a\x80\xffb 2\r\n\x00\xfe\r\n`),
  alone(
    'invalid subjects, pedantic',
    `${LOUD}PUB foo.* 1\r\na\r\nPUB foo..b 1\r\na\r\nSUB foo..b 2\r\nSUB .foo 2\r\nSUB foo.>.x 3\r\nSUB foo*bar 4\r\nSUB > 5\r\n`,
  ),
  alone(
    'invalid subjects',
    `${QUIET}PUB foo.* 1\r\na\r\nPUB foo..b 1\r\na\r\nSUB foo..b 2\r\nSUB .foo 2\r\nSUB foo. 4\r\nSUB foo*bar 4\r\nPUB foo*bar 1\r\nz\r\n`,
  ),
  alone('publish to a wildcard subject', `${QUIET}SUB foo.* 1\r\nPUB foo.* 1\r\na\r\nPUB foo.> 1\r\nb\r\n`),
  alone('sub without arguments', `${QUIET}SUB\r\n`),
  alone('sub with one argument', `${QUIET}SUB foo\r\n`),
  alone('sub with four arguments', `${QUIET}SUB foo a b c\r\n`),
  alone('carriage return as a blank', `${QUIET}SUB foo\r1\r\nPUB foo 1\r\na\r\n`),
  alone('pub without size', `${QUIET}PUB foo\r\n`),
  alone('pub with four arguments', `${QUIET}PUB foo a b 3\r\nabc\r\n`),
  alone('negative size', `${QUIET}PUB foo -1\r\n`),
  alone('size that is no number', `${QUIET}PUB foo 3x\r\n`),
  alone('payload longer than said', `${QUIET}PUB foo 3\r\nabcd\r\n`),
  alone('payload not ended by CR LF', `${QUIET}PUB foo 3\r\nabc\nPING\r\n`),
  alone('payload missing', `${QUIET}PUB foo 0\r\nPING\r\n`),
  alone('payload too large', `${QUIET}PUB foo 1048577\r\n`),
  alone('size of ten digits', `${QUIET}PUB foo 1234567890\r\n`),
  alone('size of twenty digits', `${QUIET}PUB foo 99999999999999999999\r\n`),
  alone('control line too long', `${QUIET}SUB ${'x'.repeat(5_000)} 1\r\n`),
  alone('control line that never ends', `${QUIET}PUB ${'x'.repeat(9_000)}`),
  alone('connect too long', `CONNECT {"verbose":false,"name":"${'x'.repeat(5_000)}"}\r\n`),
  alone('unsub without arguments', `${QUIET}UNSUB\r\n`),
  alone('unsub of an unknown sid', `${QUIET}UNSUB 9\r\nUNSUB 9 x\r\n`),
  alone('unsub of an unknown sid, verbose', `${LOUD}UNSUB 9\r\n`),
  alone('unsub with three arguments', `${QUIET}UNSUB 1 2 3\r\n`),
  alone('unsub after two', `${QUIET}SUB foo 1\r\nUNSUB 1 2\r\n${'PUB foo 1\r\na\r\n'.repeat(4)}`),
  alone(
    'unsub after as many as already came',
    `${QUIET}SUB foo 1\r\n${'PUB foo 1\r\na\r\n'.repeat(2)}UNSUB 1 2\r\nPUB foo 1\r\nc\r\n`,
  ),
  alone(
    'unsub counts what came before',
    `${QUIET}SUB foo 1\r\n${'PUB foo 1\r\na\r\n'.repeat(2)}UNSUB 1 3\r\n${'PUB foo 1\r\nb\r\n'.repeat(2)}`,
  ),
  alone('unsub after zero', `${QUIET}SUB foo 1\r\nUNSUB 1 0\r\nPUB foo 0\r\n\r\n`),
  alone('sid used twice', `${QUIET}SUB foo 1\r\nSUB bar 1\r\nPUB foo 1\r\na\r\nPUB bar 1\r\nb\r\n`),
  alone('http', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
  alone('tls hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  alone('zero bytes', '\x00\x01\x02'),
  alone('an empty line', '\r\n'),
  alone('a blank before an operation', `${QUIET} SUB a 1\r\n`),
  alone('what only servers send', 'MSG foo 1 1\r\na\r\n'),
  alone('info from a client', 'INFO {}\r\n'),
  alone('ok from a client', '+OK\r\n'),
  alone('error from a client', "-ERR 'x'\r\n"),
  alone('half a word', 'PIxG\r\n'),
  alone('connect that is no json', 'CONNECT {bad\r\n'),
  alone('connect without argument', 'CONNECT\r\n'),
  alone('connect with an array', 'CONNECT []\r\n'),
  alone('connect with null', 'CONNECT null\r\n'),
  alone('connect with the wrong type', 'CONNECT {"verbose":1}\r\n'),
  alone('connect with a number as token', 'CONNECT {"auth_token":5}\r\n'),
  alone('connect with a null field', 'CONNECT {"verbose":null}\r\n'),
  alone('connect with trailing words', 'CONNECT {"verbose":false} x\r\n'),
  alone('connect with unknown fields in capitals', 'CONNECT {"lang":"x","nope":1,"VERBOSE":false}\r\n'),
  alone('connect without a blank', 'CONNECT{"verbose":false}\r\n'),
  alone('connect twice', 'CONNECT {}\r\nCONNECT {"verbose":false}\r\n'),
  alone('connect with protocol 2', 'CONNECT {"protocol":2}\r\n'),
  alone('connect with protocol -1', 'CONNECT {"protocol":-1}\r\n'),
  alone('no responders without headers', 'CONNECT {"verbose":false,"no_responders":true}\r\n'),
  alone(
    'headers',
    `${QUIET}SUB foo 1\r\nHPUB foo 12 17\r\n${BLOCK}hello\r\nHPUB foo bar 12 12\r\n${BLOCK}\r\nHPUB  foo\tbar  012 012\r\n${BLOCK}\r\n`,
  ),
  alone(
    'hpub without any headers',
    `${QUIET}SUB foo 1\r\nHPUB foo 0 5\r\nhello\r\nHPUB foo bar 0 0\r\n\r\nHPUB  foo\tbar  000 05\r\nhello\r\n`,
  ),
  alone('hpub without any headers or headers support', `CONNECT {"verbose":false}\r\nHPUB foo 0 1\r\na\r\n`),
  alone('more headers than bytes', `${QUIET}HPUB foo 12 5\r\nhello\r\n`),
  alone('hpub with one size', `${QUIET}HPUB foo 12\r\n${BLOCK}\r\n`),
  alone('hpub with a wrong size', `${QUIET}HPUB foo x 12\r\n`),
  alone('hpub with five arguments', `${QUIET}HPUB foo a b 1 2\r\n`),
  alone('hpub too large', `${QUIET}HPUB foo 12 1048577\r\n`),
  alone('hpub without headers support', `CONNECT {"verbose":false}\r\nHPUB foo 12 12\r\n${BLOCK}\r\n`),
  alone('hpub before connect', `HPUB foo 12 12\r\n${BLOCK}\r\n`),
  alone(
    'no responders',
    `${ASKING}SUB inbox.* 7\r\nPUB none inbox.x 2\r\nhi\r\nHPUB none inbox.y 12 12\r\n${BLOCK}\r\n`,
  ),
  alone('no responders, nobody to tell', `${ASKING}PUB none inbox 2\r\nhi\r\n`),
  alone('no responders goes to one', `${ASKING}SUB in q 1\r\nSUB in 2\r\nPUB none in 2\r\nhi\r\n`),
  alone('no echo', `${SILENT}SUB foo 1\r\nPUB foo 1\r\na\r\n`),
  alone(
    'own subscription does not respond without echo',
    'CONNECT {"verbose":false,"headers":true,"no_responders":true,"echo":false}\r\nSUB x 1\r\nSUB in 2\r\nPUB x in 2\r\nhi\r\n',
  ),
  {
    name: 'wildcards',
    unordered: true,
    turns: [
      [
        'a',
        `${QUIET}SUB * 1\r\nSUB foo.* 2\r\nSUB foo.> 3\r\nSUB > 4\r\nSUB *.bar 5\r\nSUB foo.bar 6\r\nPUB foo.bar 1\r\na\r\nPUB foo 1\r\nb\r\nPUB foo.x.y 1\r\nc\r\n`,
      ],
    ],
  },
  {
    name: 'queue group beside plain subscriptions',
    unordered: true,
    turns: [['a', `${QUIET}SUB foo q 1\r\nSUB foo 3\r\nSUB foo r 4\r\nPUB foo 1\r\na\r\n`]],
  },
  {
    name: 'between two connections',
    turns: [
      ['a', `${QUIET}SUB foo 1\r\nSUB reply.* 2\r\n`],
      ['b', `${QUIET}SUB bar 9\r\nPUB foo reply.1 5\r\nhello\r\n`],
      ['a', 'PUB bar 2\r\nok\r\nUNSUB 1\r\n'],
      ['b', 'PUB foo 4\r\nlost\r\nPUB reply.1 3\r\nend\r\n'],
      ['a', ''],
    ],
  },
  {
    name: 'headers to a client without them',
    turns: [
      ['a', 'CONNECT {"verbose":false}\r\nSUB foo 1\r\n'],
      ['b', `${QUIET}HPUB foo 12 17\r\n${BLOCK}hello\r\nHPUB foo re 12 12\r\n${BLOCK}\r\n`],
      ['a', ''],
    ],
  },
  {
    name: 'no headers to a client without them',
    turns: [
      ['a', 'CONNECT {"verbose":false}\r\nSUB foo 1\r\n'],
      ['b', `${QUIET}HPUB foo 0 5\r\nhello\r\nHPUB foo re 0 2\r\nhi\r\n`],
      ['a', ''],
    ],
  },
  {
    name: 'no echo still reaches others',
    turns: [
      ['a', `${QUIET}SUB foo 1\r\n`],
      ['b', `${SILENT}SUB foo 2\r\nPUB foo 1\r\na\r\n`],
      ['a', ''],
    ],
  },
  {
    name: 'control subjects are not readable',
    guarded: true,
    turns: [
      ['a', `${QUIET}SUB mesh.control.> 1\r\nSUB mesh.control.x 2\r\nSUB mesh.control.* q 3\r\nSUB mesh.> 4\r\n`],
      ['b', `${LOUD}PUB mesh.control.x 1\r\na\r\nPUB mesh.a.b.signal 1\r\nb\r\n`],
      ['a', ''],
    ],
  },
  {
    name: 'graph subjects are not writable',
    guarded: true,
    turns: [
      ['a', `${QUIET}SUB mesh.ws.peer.graph 1\r\n`],
      [
        'b',
        `${LOUD}PUB mesh.ws.peer.graph 1\r\na\r\nPUB mesh.ws.peer.graph.x 1\r\nb\r\nPUB mesh.ws.peer.signal 1\r\nc\r\n`,
      ],
      ['a', ''],
    ],
  },
];
