import { each, suffixed } from './phrase-lists.ts';

/** Phrases that say what holds besides what else is said, apart by `|`. */

const [IN, OUT] = ['inbound|incoming|ingress', 'outbound|outgoing|egress'];
const BEFORE = '|and |but |with ';
const CLOSED =
  ' closed| is closed| is blocked| blocked| stays closed| must be closed| should be closed| is denied| denied';
const STAYS =
  ' stay as they are| stays as it is| remain as they are| remains as it is| are not affected| unchanged| stay unchanged| stays unchanged| untouched';

function traffic(words: string): string {
  return ['', ' traffic', ' connections', ' connection', ' access'].map((noun) => suffixed(noun, words)).join('|');
}

function behind(phrases: string, endings: string): string {
  return endings
    .split('|')
    .map((ending) => suffixed(ending, phrases))
    .join('|');
}

function noOther(words: string): string {
  const all = `${each('everything else |all else |anything else ', words)}|${each('all other |every other |any other ', traffic(words))}`;
  return each(BEFORE, `${each('no other ', traffic(words))}|${each('nothing else ', words)}|${behind(all, CLOSED)}`);
}

function other(words: string): string {
  return `${each('all other |every other |any other |all the other ', traffic(words))}|${each('everything else ', words)}`;
}

function stays(phrases: string): string {
  return each(BEFORE, behind(phrases, STAYS));
}

const OTHER_PORTS =
  'other ports|all other ports|the other ports|its other ports|all the other ports|any other port|every other port';

export const BESIDE_PHRASES = {
  NO_OTHER_IN: noOther(IN),
  NO_OTHER_OUT: noOther(OUT),
  OTHER_IN: other(IN),
  OTHER_OUT: other(OUT),
  NOTHING_IN: each(BEFORE, 'nothing in|nothing goes in|nothing comes in|nothing gets in'),
  NOTHING_OUT: each(BEFORE, 'nothing out|nothing goes out|nothing comes out|nothing gets out'),
  OTHER_PORTS_STAY: `${stays(OTHER_PORTS)}|${each('do not change |do not touch |leave alone ', OTHER_PORTS)}|${behind(each('leave |keep ', OTHER_PORTS), ' as they are| as it is| alone| unchanged| untouched')}`,
  INBOUND_STAYS: stays(`what comes in|whatever comes in|${traffic(IN)}`),
  OUTBOUND_STAYS: stays(`what goes out|whatever goes out|${traffic(OUT)}`),
} as const;
