import { common } from './common.ts';
import { effect } from './effect.ts';
import { live } from './live.ts';
import { palette } from './palette.ts';
import { peers } from './peers.ts';
import { problem } from './problem.ts';
import { review } from './review.ts';
import { shell } from './shell.ts';
import { signIn } from './sign-in.ts';

/** Every text of the dashboard: one file for each page; what several say is in `common`. */
export const texts = { common, problem, live, signIn, shell, effect, review, peers, palette } as const;
