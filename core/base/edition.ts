export type Edition = 'community' | 'pro';
