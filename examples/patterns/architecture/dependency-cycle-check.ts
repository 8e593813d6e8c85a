interface Input {
  edges: Record<string, string[]>;
  forbidden?: { from: string; to: string }[];
}

interface Answer {
  cycles: { size: number; ring: string[] }[];
  forbidden: { from: string; to: string; rule: number }[];
  layers: string[][];
}

/** Strongly connected components, targets first (Tarjan, without recursion). */
function components(nodes: string[], next: (node: string) => string[]): string[][] {
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const found: string[][] = [];
  for (const root of nodes) {
    if (index.has(root)) continue;
    const work: { node: string; at: number }[] = [{ node: root, at: 0 }];
    while (work.length > 0) {
      const top = work[work.length - 1]!;
      const { node } = top;
      if (top.at === 0 && !index.has(node)) {
        index.set(node, index.size);
        low.set(node, index.get(node)!);
        stack.push(node);
        onStack.add(node);
      }
      const target = next(node)[top.at];
      if (target !== undefined) {
        top.at += 1;
        if (!index.has(target)) work.push({ node: target, at: 0 });
        else if (onStack.has(target)) low.set(node, Math.min(low.get(node)!, index.get(target)!));
        continue;
      }
      work.pop();
      const parent = work[work.length - 1];
      if (parent) low.set(parent.node, Math.min(low.get(parent.node)!, low.get(node)!));
      if (low.get(node) === index.get(node)) {
        const members: string[] = [];
        let member: string;
        do {
          member = stack.pop()!;
          onStack.delete(member);
          members.push(member);
        } while (member !== node);
        found.push(members.sort());
      }
    }
  }
  return found;
}

/** The shortest way from a node back to itself within its component. */
function ring(start: string, within: Set<string>, next: (node: string) => string[]): string[] {
  const before = new Map<string, string>();
  const queue = [start];
  for (let at = 0; at < queue.length; at += 1) {
    const node = queue[at]!;
    for (const target of next(node)) {
      if (target === start) {
        const path = [start];
        for (let step: string | undefined = node; step !== undefined; step = before.get(step)) path.unshift(step);
        return path;
      }
      if (within.has(target) && !before.has(target)) {
        before.set(target, node);
        queue.push(target);
      }
    }
  }
  return [];
}

/** Cycles, forbidden edges and layers of a graph of modules. */
export function dependencyCycleCheck(input: Input): Answer {
  const edges = new Map(Object.entries(input.edges).map(([node, targets]) => [node, [...new Set(targets)].sort()]));
  const next = (node: string): string[] => edges.get(node) ?? [];
  const nodes = [...new Set([...edges.keys(), ...[...edges.values()].flat()])].sort();
  const groups = components(nodes, next);
  const cycles = groups
    .filter((group) => group.length > 1 || next(group[0]!).includes(group[0]!))
    .map((group) => ({ size: group.length, ring: ring(group[0]!, new Set(group), next) }))
    .sort((one, other) => other.size - one.size || (one.ring[0]! < other.ring[0]! ? -1 : 1));

  const like = (pattern: string): RegExp => new RegExp(`^${pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
  const rules = (input.forbidden ?? []).map(({ from, to }) => ({ from: like(from), to: like(to) }));
  const forbidden = nodes.flatMap((from) =>
    next(from).flatMap((to) => rules.flatMap((rule, at) => (rule.from.test(from) && rule.to.test(to) ? [{ from, to, rule: at }] : []))),
  );

  const level = new Map<string, number>();
  for (const group of groups) {
    const below = group.flatMap(next).filter((target) => !group.includes(target)).map((target) => (level.get(target) ?? 0) + 1);
    const height = Math.max(0, ...below);
    for (const member of group) level.set(member, height);
  }
  const layers: string[][] = [];
  for (const node of nodes) (layers[level.get(node) ?? 0] ??= []).push(node);
  return { cycles, forbidden, layers };
}
