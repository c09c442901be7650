/* SPDX-License-Identifier: GPL-2.0-only */
/* SPDX-FileCopyrightText: 2026 the lttng-spi authors */
/* C++ that the tests map. */
#include <string>
#include <vector>
#define NI __attribute__((noinline, noipa))

namespace ns {
enum class Col : unsigned char { Red, Blue = 7 };
struct Triv { int a; double b; };
struct NonTriv { int a; NonTriv(int x) : a(x) {} NonTriv(const NonTriv &o) : a(o.a) {} ~NonTriv() {} };
struct Empty {};
struct Big { long v[4]; };
class Foo {
	int v;
public:
	NI Foo(int x);
	NI int method(int k, const std::string &s) const;
	NI Big make();
	template<class T> NI T tmpl(T t, int n);
	NI NonTriv nt(NonTriv p, int q);
	NI int operator()(int);
	NI operator bool() const;
	NI bool operator<(const Foo &) const;
	NI void *operator[](int);
};
Foo::Foo(int x) : v(x) {}
int Foo::method(int k, const std::string &s) const { return v + k + (int) s.size(); }
Big Foo::make() { return { { v, 2, 3, 4 } }; }
template<class T> T Foo::tmpl(T t, int n) { return t; }
NonTriv Foo::nt(NonTriv p, int q) { return NonTriv(p.a + q); }
int Foo::operator()(int a) { return a; }
Foo::operator bool() const { return v; }
bool Foo::operator<(const Foo &f) const { return v < f.v; }
void *Foo::operator[](int i) { return this; }
NI int stat_(Triv t, Empty e, int z) { return t.a + z; }
NI int col(Col c) { return (int) c; }
NI int over(int a) { return a; }
NI int over(double d) { return (int) d; }
NI int over(Col c, int Foo::*mp, int (Foo::*mf)(int, const std::string &) const) { return (int) c; }
}

namespace {
NI int anon(std::vector<int> v, int &&rv, decltype(nullptr) n) { return (int) v.size() + rv; }
}

int main(int argc, char **argv)
{
	ns::Foo f(argc);
	int sum = f.method(1, "x") + ns::stat_({ 1, 2. }, {}, 3) + (int) f.tmpl<long>(5, 6) + f.nt(ns::NonTriv(3), 4).a;

	sum += ns::over(1) + ns::over(2.0) + ns::over(ns::Col::Blue, nullptr, &ns::Foo::method) + ns::col(ns::Col::Red);
	return sum + anon({ 1, 2 }, 4, nullptr) + f(1) + bool(f) + (f < f) + (f[0] == &f) + (int) f.make().v[0];
}
