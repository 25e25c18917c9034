/** Word before a name, by the kinds of names of the audit log. */
const WORDS: Readonly<Record<string, string>> = {
  user: '',
  agent: 'agent ',
  system: 'Mesh: ',
  token: 'join token ',
  device: 'device ',
};

/** Returns `admin` for `user:admin`, and `agent ops` for `agent:ops`. */
export function actorText(actor: string): string {
  const [kind = '', ...name] = actor.split(':');
  const before = Object.hasOwn(WORDS, kind) && name.length > 0 ? WORDS[kind] : undefined;
  return before === undefined ? actor : before + name.join(':');
}

/** The kinds of {@link WORDS}. */
const NAMED = /\b(user|agent|system|token|device):(?=[^\s:])/g;

/** Returns a text of the control plane with who acted as {@link actorText} says it: people by their plain names. */
export function withPlainNames(text: string): string {
  return text.replaceAll(NAMED, (_, kind: string) => WORDS[kind] ?? '');
}

/** Returns the actor that {@link actorText} shows as a text; a plain name as it is: the control plane knows whose it is. */
export function actorOf(text: string): string {
  const [kind, before = ''] = Object.entries(WORDS).find(([, word]) => word !== '' && text.startsWith(word)) ?? [];
  return kind === undefined ? text : `${kind}:${text.slice(before.length)}`;
}
