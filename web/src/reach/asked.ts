import { route } from '../route/route.ts';

/** A question: an end that is empty is anyone. */
export interface Asked {
  readonly src: string;
  readonly dst: string;
  readonly protocol: string;
  readonly port: string;
  readonly at: string | null;
}

export function askedIn(query: URLSearchParams): Asked {
  const [src, dst] = [query.get('src') ?? '', query.get('dst') ?? ''];
  return { src, dst, protocol: query.get('protocol') ?? '', port: query.get('port') ?? '', at: query.get('at') };
}

const KEPT = ['by', 'expand', 'label'];

/** The query of a question, with how the matrix or the picture is grouped. */
export function queryOf({ src, dst, protocol = '', port = '' }: Partial<Asked>): Record<string, string> {
  const { query } = route.value;
  const kept = KEPT.map((name) => [name, query.get(name) ?? ''] as const);
  const asked = Object.entries({ src: src ?? '', dst: dst ?? '', protocol, port });
  return Object.fromEntries([...kept, ...asked].filter(([, value]) => value !== ''));
}
