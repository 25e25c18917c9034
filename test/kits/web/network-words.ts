/** What people and agents named and wrote, in the one network that every page is looked at with. */
export interface NetworkWords {
  readonly workspace: string;
  readonly person: string;
  readonly peers: { readonly laptop: string; readonly build: string; readonly waiting: string };
  readonly label: readonly [key: string, value: string];
  /** A value of a label as a store may hold it that was written before values were checked. */
  readonly oldLabelValue: string;
  readonly network: string;
  readonly policies: { readonly closed: string; readonly open: string };
  readonly annotation: string;
  readonly assertion: string;
  readonly agents: { readonly first: string; readonly below: string };
  readonly joinToken: string;
  readonly apiToken: string;
  readonly webhook: { readonly url: string; readonly description: string };
  readonly note: string;
  readonly reason: string;
  /** Of a change that waits for a person. */
  readonly intent: string;
  /** Asked of the planner by the agent. */
  readonly question: string;
  /** Looked up by the agent, and not there. */
  readonly lookedUp: string;
}

export const PLAIN_WORDS: NetworkWords = {
  workspace: 'Production',
  person: 'Olga Moreno',
  peers: { laptop: 'laptop-anna', build: 'build-7', waiting: 'laptop-ben' },
  label: ['site', 'berlin'],
  oldLabelValue: 'printer',
  network: 'lab',
  policies: { closed: 'base', open: 'support-access' },
  annotation: 'Asked for by the support desk.',
  assertion: 'orders-are-kept',
  agents: { first: 'ops-agent', below: 'scout' },
  joinToken: 'Laptops of the office',
  apiToken: 'Nightly report',
  webhook: { url: 'https://hooks.invalid/mesh', description: 'Chat of operations' },
  note: 'Agreed in the morning meeting.',
  reason: 'Left the company in February.',
  intent: 'Let the build machine read the orders for its nightly report.',
  question: 'let role=ci reach role=web on port 443',
  lookedUp: 'web-9',
};

const IMAGE = '<img src=x onerror="globalThis.ran=1">';
const SCRIPT = '"\'><script>globalThis.ran=1</script>';
const HANDLER = '<svg/onload=globalThis.ran=1>';
const LINK = '<a href="javascript:globalThis.ran=1">click</a>';
const ADDRESS = 'javascript:globalThis.ran=1';
// biome-ignore lint/suspicious/noTemplateCurlyInString: it is what others fill in, and nobody should
const BRACES = '{{constructor.constructor("globalThis.ran=1")()}} ${ran} <%= ran %> %s %d $& &lt;b&gt; &#x3c;';
const COMBINING = `Z${'\u0310\u0317'.repeat(20)} \u0627\u0644\u0634\u0628\u0643\u0629 \u{1f469}\u200d\u{1f469}\u200d\u{1f467}`;
/** As long as a name may be, without a place to break it. */
const longest = (letter: string) => letter.repeat(63);
const unbroken = (text: string, length: number) => (text + 'W'.repeat(length)).slice(0, length);

/** Everything that the interface takes and a page could stumble over. */
export const HOSTILE_WORDS: NetworkWords = {
  workspace: unbroken(IMAGE, 128),
  person: unbroken(SCRIPT, 128),
  peers: { laptop: '__proto__', build: longest('W'), waiting: 'constructor' },
  label: ['constructor', longest('M')],
  oldLabelValue: IMAGE,
  network: longest('N'),
  policies: { closed: '-', open: longest('Q') },
  annotation: `${SCRIPT}\n${LINK}\n${BRACES}`,
  assertion: longest('A'),
  agents: { first: 'toString', below: longest('G') },
  joinToken: unbroken(HANDLER, 128),
  apiToken: unbroken(LINK, 128),
  webhook: {
    url: `https://hooks.invalid/${unbroken('', 400)}?${encodeURI(IMAGE)}`,
    description: unbroken(ADDRESS, 128),
  },
  note: `${BRACES} ${unbroken(IMAGE, 400)} ${COMBINING}`,
  reason: `${COMBINING} ${unbroken(HANDLER, 120)}`,
  intent: `${SCRIPT}\n${IMAGE} ${unbroken('', 300)} ${BRACES}`,
  question: `${IMAGE}\n${SCRIPT} ${unbroken('', 300)}`,
  lookedUp: `${LINK}${COMBINING}`,
};
