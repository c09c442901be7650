! SPDX-License-Identifier: GPL-2.0-only
! SPDX-FileCopyrightText: 2026 the lttng-spi authors
!
! Procedures that write down their own arguments, as events.py compares them with a trace.
module shapes
  use iso_c_binding
  implicit none
  type point
    real(8) :: x
    integer :: tag
    character(len=4) :: name
  end type
  type holder
    type(point) :: p
    real(4) :: w(0:2)
    integer, allocatable :: list(:)
  end type
  character(len=*), parameter :: m = '__shapes_MOD_'
contains
  ! "x=1.5", with the digits that babeltrace2 prints
  function r(name, x) result(text)
    character(len=*), intent(in) :: name
    real(8), intent(in) :: x
    character(len=:), allocatable :: text
    character(len=32) :: digits
    write (digits, '(f0.3)') x
    text = trim(digits)
    do while (text(len(text):) == '0')
      text = text(:len(text) - 1)
    end do
    if (text(len(text):) == '.') text = text(:len(text) - 1)
    if (text(1:1) == '.') text = '0' // text
    if (text(1:2) == '-.') text = '-0' // text(2:)
    text = '|' // name // '=' // text
  end function
  function i(name, n) result(text)
    character(len=*), intent(in) :: name
    integer(8), intent(in) :: n
    character(len=:), allocatable :: text
    character(len=32) :: digits
    write (digits, '(i0)') n
    text = '|' // name // '=' // trim(digits)
  end function
  function s(name, value) result(text)
    character(len=*), intent(in) :: name, value
    character(len=:), allocatable :: text
    text = '|' // name // '="' // value // '"'
  end function
  function a(name, address) result(text)
    character(len=*), intent(in) :: name
    integer(8), intent(in) :: address
    character(len=:), allocatable :: text
    character(len=32) :: digits
    write (digits, '(z0)') address
    text = '|' // name // '=0x' // trim(digits)
  end function
  function label(name, value) result(text)
    character(len=*), intent(in) :: name
    logical, intent(in) :: value
    character(len=:), allocatable :: text
    text = '|' // name // '=' // merge('1', '0', value)
  end function

  subroutine scalars(i1, i2, i4, i8, r4, r8, l4, l8)
    integer(1), intent(in) :: i1
    integer(2), intent(in) :: i2
    integer(4), intent(in) :: i4
    integer(8), intent(in) :: i8
    real(4), intent(in) :: r4
    real(8), intent(in) :: r8
    logical, intent(in) :: l4
    logical(8), intent(in) :: l8
    print '(a)', m // 'scalars_entry' // i('i1', int(i1, 8)) // i('i2', int(i2, 8)) // i('i4', int(i4, 8)) // &
      i('i8', i8) // r('r4', real(r4, 8)) // r('r8', r8) // label('l4', l4) // label('l8', logical(l8))
    print '(a)', m // 'scalars_exit'
  end subroutine
  subroutine complexes(z, w, c, q)
    complex(4), intent(in) :: z
    complex(8), intent(in) :: w
    character, intent(in) :: c
    real(16), intent(in) :: q
    integer(8) :: words(2)
    words = transfer(q, words)
    print '(a)', m // 'complexes_entry' // r('z_re', real(z, 8)) // r('z_im', real(aimag(z), 8)) // &
      r('w_re', real(w, 8)) // r('w_im', aimag(w)) // s('c', c) // a('q_lo', words(1)) // a('q_hi', words(2))
    print '(a)', m // 'complexes_exit'
  end subroutine
  subroutine texts(c, d, n)
    character(len=*), intent(in) :: c
    character(len=6), intent(in) :: d
    integer, intent(in) :: n
    print '(a)', m // 'texts_entry' // s('c', c) // s('d', d) // i('n', int(n, 8))
    print '(a)', m // 'texts_exit'
  end subroutine
  subroutine arrays(b, c, d, e, n, z)
    integer, intent(in) :: n
    real(8), target, intent(in) :: b(:)
    integer, target, intent(in) :: c(:,:)
    real(8), target, intent(in) :: d(3)
    integer, target, intent(in) :: e(n)
    real(8), target, intent(in) :: z(0:)
    print '(a)', m // 'arrays_entry' // a('b', transfer(c_loc(b(1)), 0_8)) // i('b_ubound', ubound(b, 1, 8)) // &
      a('c', transfer(c_loc(c(1,1)), 0_8)) // i('c_ubound_1', ubound(c, 1, 8)) // i('c_ubound_2', ubound(c, 2, 8)) // &
      a('d', transfer(c_loc(d), 0_8)) // a('e', transfer(c_loc(e), 0_8)) // i('n', int(n, 8)) // &
      i('z_ubound', ubound(z, 1, 8))
    print '(a)', m // 'arrays_exit'
  end subroutine
  subroutine derived(p, h, v)
    type(point), intent(in) :: p
    type(holder), intent(inout) :: h
    type(point), value :: v
    print '(a)', m // 'derived_entry' // r('p_x', p%x) // i('p_tag', int(p%tag, 8)) // s('p_name', p%name) // &
      r('h_p_x', h%p%x) // s('h_p_name', h%p%name) // r('h_w_0', real(h%w(0), 8)) // r('h_w_2', real(h%w(2), 8)) // &
      i('h_list_lbound', lbound(h%list, 1, 8)) // i('h_list_ubound', ubound(h%list, 1, 8)) // &
      r('v_x', v%x) // i('v_tag', int(v%tag, 8)) // s('v_name', v%name)
    print '(a)', m // 'derived_exit'
  end subroutine
  subroutine optional_ones(n, c, d)
    integer, optional, intent(in) :: n
    character(len=*), optional, intent(in) :: c
    real(8), optional, target, intent(in) :: d(:)
    character(len=:), allocatable :: line
    line = ''
    if (present(n)) line = line // i('n', int(n, 8))
    if (present(c)) then
      line = line // s('c', c)
    else
      line = line // '|c="(null)"'
    end if
    if (present(d)) then
      line = line // i('d_ubound', ubound(d, 1, 8))
    else
      line = line // '|d=0x0'
    end if
    print '(a)', m // 'optional_ones_entry' // line
    print '(a)', m // 'optional_ones_exit'
  end subroutine
  subroutine pointers(p, q, b, n)
    integer, pointer, intent(in) :: p
    real(8), pointer, intent(in) :: q(:)
    integer, allocatable, target, intent(inout) :: b(:)
    integer, allocatable, intent(inout) :: n
    print '(a)', m // 'pointers_entry' // a('p', transfer(c_loc(p), 0_8)) // a('q', transfer(c_loc(q(lbound(q,1))), 0_8)) // &
      i('q_lbound', lbound(q, 1, 8)) // i('q_ubound', ubound(q, 1, 8)) // a('b', transfer(c_loc(b(lbound(b,1))), 0_8)) // &
      i('b_lbound', lbound(b, 1, 8)) // i('b_ubound', ubound(b, 1, 8)) // '|n=0x0'
    print '(a)', m // 'pointers_exit'
  end subroutine
  subroutine deferred(c)
    character(len=:), allocatable, intent(inout) :: c
    print '(a)', m // 'deferred_entry' // s('c', c)
    print '(a)', m // 'deferred_exit'
  end subroutine
  subroutine byvalue(n, x, z, c, l)
    integer, value :: n
    real(4), value :: x
    complex(8), value :: z
    character, value :: c
    logical, value :: l
    print '(a)', m // 'byvalue_entry' // i('n', int(n, 8)) // r('x', real(x, 8)) // r('z_re', real(z, 8)) // &
      r('z_im', aimag(z)) // s('c', c) // label('l', l)
    print '(a)', m // 'byvalue_exit'
  end subroutine
  subroutine bound_to_c(n, x) bind(C, name='bound_to_c')
    integer(c_int), value :: n
    real(c_double), intent(in) :: x
    print '(a)', 'bound_to_c_entry' // i('n', int(n, 8)) // r('x', x)
    print '(a)', 'bound_to_c_exit'
  end subroutine
  complex(8) function turned(z)
    complex(8), intent(in) :: z
    turned = z * (0.0d0, 1.0d0)
    print '(a)', m // 'turned_entry' // r('z_re', real(z, 8)) // r('z_im', aimag(z))
    print '(a)', m // 'turned_exit' // r('ret_re', real(turned, 8)) // r('ret_im', aimag(turned))
  end function
  logical function is_big(n)
    integer(8), intent(in) :: n
    is_big = n > 10
    print '(a)', m // 'is_big_entry' // i('n', n)
    print '(a)', m // 'is_big_exit' // label('ret', is_big)
  end function
  character(len=5) function name_of(n, c)
    integer, intent(in) :: n
    character(len=*), intent(in) :: c
    name_of = 'name' // achar(48 + n)
    print '(a)', m // 'name_of_entry' // i('n', int(n, 8)) // s('c', c)
    print '(a)', m // 'name_of_exit'
  end function
  function ramp(n, x) result(t)
    integer, intent(in) :: n
    real(8), intent(in) :: x
    real(8) :: t(n)
    t = x
    print '(a)', m // 'ramp_entry' // i('n', int(n, 8)) // r('x', x)
    print '(a)', m // 'ramp_exit'
  end function
  function made(x) result(p)
    real(8), intent(in) :: x
    type(point) :: p
    p = point(x, 7, 'made')
    print '(a)', m // 'made_entry' // r('x', x)
    print '(a)', m // 'made_exit' // r('ret_x', p%x) // i('ret_tag', int(p%tag, 8)) // s('ret_name', p%name)
  end function
  subroutine outer(n)
    integer, intent(in) :: n
    print '(a)', m // 'outer_entry' // i('n', int(n, 8))
    call inner(n + 1, 'contained')
    print '(a)', m // 'outer_exit'
  contains
    subroutine inner(k, c)
      integer, intent(in) :: k
      character(len=*), intent(in) :: c
      print '(a)', 'inner.0_entry' // i('k', int(k, 8)) // s('c', c)
      print '(a)', 'inner.0_exit'
    end subroutine
  end subroutine
end module
program main
  use shapes
  implicit none
  integer, target :: t = 5
  real(8), target :: qa(3) = [1d0, 2d0, 3d0]
  integer, pointer :: p
  real(8), pointer :: q(:)
  integer, allocatable :: b(:), n
  character(len=:), allocatable :: text
  type(holder) :: h
  type(point) :: made_one
  real(8) :: many(3)
  integer :: matrix(2,3) = reshape([1, 2, 3, 4, 5, 6], [2, 3])
  call scalars(-5_1, 300_2, -70000_4, 9000000000_8, 1.25, -2.5d0, .true., .false._8)
  call scalars(127_1, -300_2, 70000_4, -1_8, -0.5, 0.125d0, .false., .true._8)
  call complexes((1.0, -2.0), (3.0d0, 4.5d0), 'Q', 1.5_16)
  call texts('hello', 'world ', 3)
  call texts('', 'sixsix', -3)
  call arrays(qa(1:3:2), matrix, qa, [7, 8], 2, qa)
  allocate(b(5:7)); b = [1, 2, 3]
  call arrays(qa, matrix(:,2:3), qa, b, 3, qa(2:))
  h%p = point(2.5d0, 3, 'nest'); h%w = [1.0, 2.0, 3.0]; allocate(h%list(4:5)); h%list = [8, 9]
  call derived(point(1.5d0, 2, 'pnt1'), h, point(4.5d0, 6, 'valu'))
  call optional_ones()
  call optional_ones(1, 'opt', qa)
  p => t; q(-1:) => qa(2:3)
  call pointers(p, q, b, n)
  text = 'deferred'
  call deferred(text)
  call byvalue(11, 2.5, (1.5d0, 2.5d0), 'v', .true.)
  call bound_to_c(9_c_int, 1.75_c_double)
  if (real(turned((1d0, 2d0))) /= -2d0) stop 1
  if (.not. is_big(11_8) .or. is_big(3_8)) stop 2
  if (name_of(3, 'with text') /= 'name3') stop 3
  many = ramp(3, 0.25d0)
  made_one = made(9.5d0)
  if (made_one%tag /= 7) stop 4
  call outer(6)
end program
